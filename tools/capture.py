#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""capture.py SPEC DIR [SPEC DIR ...]: records what the running kernel does for a list of
operations, as a capture folder that `foliosim conform DIR` takes.

A spec is a text: lines "key: value" (desc, size, mke2fs, mount, read_ahead_kb, pause_ms), then the
sections "prepare:" (run untraced) and "ops:", one operation a line, as foliosim's op lists have
them.  "for VAR START STOP STEP: OP" with {expressions} stands for one operation a value.

Needs root, tracefs, loop devices, e2fsprogs and ext4.  Exit: 0, 1 if a capture failed, 2 usage,
77 if something is missing here (said on standard error).

Everything global that is changed - writeback sysctls, CPU masks of workqueues, the trace instance,
loop devices, mounts - is put back at the end, also after SIGINT, SIGTERM and SIGHUP.
Environment: CAPTURE_WORK, where scratch goes (default: TMPDIR).
"""
import mmap, os, re, shutil, signal, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True

from capture_ops import Operations, Missing, expand, number
from capture_state import file_state, state_text, tree_of

UUID = '6f6c696f-6669-4d73-8a6d-000000000001'
HASH_SEED = '6f6c696f-6669-4d73-8a6d-0000000000a5'
MADE_AT = '1700000000'
BUFFER_KB = 65536
PREPARED = 16001        # number of the first operation of a preparation
TRIES = 20
WRONG_NUMBER = 111      # exit of a process that has to be started again

# No writeback that nobody asked for.
SETTINGS = {
    '/proc/sys/vm/dirty_writeback_centisecs': '0',
    '/proc/sys/vm/dirty_expire_centisecs': '360000',
    '/proc/sys/vm/dirtytime_expire_seconds': '0',
    '/proc/sys/vm/dirty_background_ratio': '80',
    '/proc/sys/vm/dirty_ratio': '90',
    # Workers run on the CPU of the operations, so only while those wait.
    '/sys/devices/virtual/workqueue/cpumask': '1',
    '/sys/devices/virtual/workqueue/writeback/cpumask': '1',
}
EVENTS = {
    'jbd2': 'jbd2_handle_start jbd2_handle_extend jbd2_handle_restart jbd2_handle_stats '
            'jbd2_start_commit jbd2_end_commit jbd2_run_stats',
    'filemap': 'mm_filemap_add_to_page_cache mm_filemap_delete_from_page_cache',
    'ext4': 'ext4_journal_start_inode ext4_journal_start_sb ext4_journal_start_reserved '
            'ext4_write_begin ext4_write_end ext4_da_write_begin ext4_da_write_end '
            'ext4_journalled_write_end ext4_writepages ext4_da_write_folios_start '
            'ext4_da_write_folios_end ext4_da_write_pages_extent ext4_writepages_result '
            'ext4_ext_map_blocks_exit ext4_ind_map_blocks_exit ext4_request_blocks '
            'ext4_allocate_blocks ext4_free_blocks ext4_ext_remove_space ext4_remove_blocks '
            'ext4_truncate_enter ext4_truncate_exit ext4_punch_hole ext4_zero_range '
            'ext4_collapse_range ext4_insert_range ext4_fallocate_enter ext4_fallocate_exit '
            'ext4_ext_handle_unwritten_extents ext4_es_insert_extent '
            'ext4_es_insert_delayed_extent ext4_es_remove_extent ext4_invalidate_folio '
            'ext4_journalled_invalidate_folio ext4_mark_inode_dirty ext4_da_reserve_space '
            'ext4_da_update_reserve_space ext4_da_release_space ext4_sync_file_enter '
            'ext4_sync_file_exit ext4_sync_fs',
}


class Disturbed(Exception):
    """Somebody else used the file system, or reclaimed its pages: try again."""


def get(path):
    with open(path) as f:
        return f.read()


def put(path, text):
    with open(path, 'w') as f:
        f.write(text)


def run(*cmd, check=True, env=None):
    r = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       env=dict(os.environ, LC_ALL='C', **(env or {})))
    if check and r.returncode:
        raise RuntimeError('%s: exit %d\n%s' % (' '.join(cmd), r.returncode, r.stdout))
    return r.stdout if check else (r.returncode, r.stdout)


def read_spec(path):
    spec = {'prepare': [], 'ops': [], 'size': '64M', 'mke2fs': '-b 4096', 'mount': '', 'desc': '',
            'pause_ms': '12', 'read_ahead_kb': '', 'skip_files': 'f g'}
    section = None
    for n, line in enumerate(get(path).split('\n'), 1):
        text = line.split('#', 1)[0].rstrip()
        if not text.strip():
            continue
        if text in ('prepare:', 'ops:'):
            section = text[:-1]
        elif section and text[0] in ' \t':
            spec[section] += expand(text.strip())
        elif ':' in text:
            key, value = text.split(':', 1)
            spec[key.strip()] = value.strip()
            section = None
        else:
            raise ValueError('%s:%d: expected "key: value", got %r' % (path, n, text))
    return spec


class Machine:
    """What is changed outside of the captured file system, and how it is put back."""

    def __init__(self):
        self.undo = []

    def __enter__(self):
        try:
            self.setup()
        except BaseException:
            self.__exit__()
            raise
        return self

    def setup(self):
        if os.geteuid():
            raise Missing('not root')
        for tool in ('mke2fs', 'dumpe2fs', 'debugfs', 'e2fsck', 'losetup', 'mount'):
            if not shutil.which(tool):
                raise Missing('no ' + tool)
        if not os.path.exists('/dev/loop-control'):
            raise Missing('no loop devices')
        self.work = '%s/foliosim-capture-%d' % (os.environ.get('CAPTURE_WORK') or
                                                tempfile.gettempdir(), os.getpid())
        self.mnt = self.work + '/mnt'
        # Mounted here, so that it does not matter where it is mounted, or whether it is.
        self.tracefs = self.work + '/tracefs'
        self.trace = self.tracefs + '/instances/foliosim-%d' % os.getpid()
        # An interrupt can come between any two of these: each is undone whether done or not.
        self.undo.append(self.remove)
        for d in (self.work + '/img', self.mnt, self.tracefs):
            os.makedirs(d, exist_ok=True)
        run('mount', '-t', 'tmpfs', '-o', 'size=90%', 'foliosim', self.work + '/img')
        if run('mount', '-t', 'tracefs', 'tracefs', self.tracefs, check=False)[0] or \
           not all(os.path.isdir(self.tracefs + '/events/' + x) for x in EVENTS):
            raise Missing('no tracefs with the events of ext4 and jbd2')
        os.mkdir(self.trace)
        for path, value in SETTINGS.items():
            if os.path.exists(path):
                old = get(path).strip()
                self.undo.append(lambda path=path, old=old: put(path, old))
                put(path, value)

    def remove(self):
        run('umount', self.mnt, check=False)
        for line in run('losetup', '-n', '-O', 'NAME,BACK-FILE').split('\n'):
            if (self.work + '/img/') in line:
                run('losetup', '-d', line.split()[0], check=False)
        run('umount', self.work + '/img', check=False)
        if os.path.isdir(self.trace):
            put(self.trace + '/tracing_on', '0')
            os.rmdir(self.trace)
        run('umount', self.tracefs, check=False)
        for d in (self.work + '/img', self.mnt, self.tracefs):
            os.rmdir(d)     # never what is still mounted there
        shutil.rmtree(self.work)

    def __exit__(self, *exc):
        for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(s, signal.SIG_IGN)
        for undo in reversed(self.undo):
            try:
                undo()
            except (OSError, RuntimeError) as e:
                print('cannot put back: %s' % e, file=sys.stderr)
        self.undo = []


class Loop:
    def __init__(self, image):
        self.dev = run('losetup', '--show', '-f', image).strip()
        self.name = os.path.basename(self.dev)
        dev = os.stat(self.dev).st_rdev
        self.major, self.minor = os.major(dev), os.minor(dev)

    def free(self):
        run('losetup', '-d', self.dev, check=False)


def start_trace(m, loop):
    put(m.trace + '/events/enable', '0')
    put(m.trace + '/buffer_size_kb', str(BUFFER_KB))
    put(m.trace + '/trace_clock', 'mono')
    on, lacking = [], []
    for system, names in EVENTS.items():
        for name in names.split():
            event = '%s/events/%s/%s' % (m.trace, system, name)
            if not os.path.isdir(event):
                lacking.append(name)
                continue
            field = 's_dev' if system == 'filemap' else 'dev'
            put(event + '/filter', '%s == %d' % (field, loop.major << 20 | loop.minor))
            put(event + '/enable', '1')
            on.append(name)
    put(m.trace + '/trace', '')
    put(m.trace + '/tracing_on', '1')
    return on, lacking


def stop_trace(m):
    put(m.trace + '/tracing_on', '0')
    lost = 0
    for cpu in os.listdir(m.trace + '/per_cpu'):
        stats = get('%s/per_cpu/%s/stats' % (m.trace, cpu))
        lost += sum(int(x) for x in re.findall(r'(?:overrun|dropped events): (\d+)', stats))
    events = get(m.trace + '/trace')
    put(m.trace + '/events/enable', '0')
    put(m.trace + '/trace', '')
    put(m.trace + '/buffer_size_kb', '4')
    if lost:
        raise RuntimeError('%d events lost: the trace buffer is too small' % lost)
    for line in events.split('\n'):
        who = re.match(r'\s*(.+?)-\d+\s+\[', line)
        if who and not line.startswith('#') and \
           not who[1].startswith(('foliosim', 'kworker/', 'jbd2/')):
            raise Disturbed('events by ' + who[1])
    return events


def journal_thread_to_cpu0(loop):
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if get('/proc/%s/comm' % pid).startswith('jbd2/%s-' % loop.name):
                os.sched_setaffinity(int(pid), {0})
        except OSError:
            pass


class Child:
    """A process of its own on CPU 0 that runs work(); it never outlives the with statement."""

    def __init__(self, work, *close):
        self.said, w = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(w)
            for fd in close:
                os.close(fd)
            return
        # Without delayed allocation a file's first goal depends on the number modulo 16.
        if os.getpid() % 16 != 3:
            os._exit(WRONG_NUMBER)
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.sched_setaffinity(0, {0})
            work()
            os._exit(0)
        except BaseException as e:
            os.write(w, ('%s: %s' % (type(e).__name__, e)).encode())
            os._exit(1)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.said)

    def wait(self):
        """True, or False if it has to be started again."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.pid = 0
        if status and status != WRONG_NUMBER:
            raise RuntimeError('operations: %s' %
                               (os.read(self.said, 4096).decode() or 'exit %d' % status))
        return not status


def run_child(work):
    over = False
    while not over:
        with Child(work) as c:
            over = c.wait()


def prepare(m, spec, loop, options):
    """Operations before tracing; those on the mount itself are done here."""
    todo, n, lines = [], PREPARED, []

    def flush():
        if todo:
            run_child(lambda: Operations(m.mnt, todo).run())
            todo.clear()

    def mount_again(between=None):
        run('umount', m.mnt)
        if between:
            run('debugfs', '-w', '-R', between, loop.dev)
        run('mount', '-t', 'ext4', '-o', options, loop.dev, m.mnt)

    for op in spec['prepare']:
        word = op.split()[0]
        lines.append('%d %s\n' % (n, op))
        if word in ('sysfs', 'load_buddies', 'debugfs', 'remount'):
            flush()
        if word == 'sysfs':
            put('/sys/fs/ext4/%s/%s' % (loop.name, op.split()[1]), op.split()[2])
        elif word == 'load_buddies':
            get('/proc/fs/ext4/%s/mb_groups' % loop.name)
        elif word == 'debugfs':
            mount_again(op[8:])
        elif word == 'remount':
            mount_again()
        else:
            todo.append((n, op))
        n += 1
    flush()
    return ''.join(lines)


def traced(m, spec, image, done):
    """The operations; @done is called when the last one is over, before files are closed."""
    ops = [(i + 1, op) for i, op in enumerate(spec['ops'])]
    results, crashes, over = m.work + '/results', [], False
    while not over:
        ask_r, ask_w = os.pipe()
        say_r, say_w = os.pipe()

        def work():
            os.close(ask_r)
            os.close(say_w)
            Operations(m.mnt, ops, marker=m.trace + '/trace_marker', results=results,
                       pause=int(spec['pause_ms']) / 1000, ask=(ask_w, say_r)).run()

        with Child(work, ask_w, say_r) as c:
            request = os.read(ask_r, 256).decode()
            while request:
                if request.startswith('crash '):
                    crashes.append(request[6:])
                    time.sleep(0.03)
                    run('cp', '--sparse=always', image, '%s/img/crash-%s' % (m.work, request[6:]))
                else:
                    done()
                os.write(say_w, b'.')
                request = os.read(ask_r, 256).decode()
            over = c.wait()
        os.close(ask_r)
        os.close(say_w)
    return get(results), crashes


def check(dev):
    code, text = run('e2fsck', '-fn', dev, check=False)
    lines = [x for x in text.split('\n') if x.strip() and not x.startswith(('e2fsck ', 'Pass '))]
    last = (lines[-1] if lines else '').replace(dev, 'DEV').replace('"', "'")
    return 'fsck: {exit: %d, last: "%s"}\n' % (code, last)


def states(files, dev):
    for name, f in files.items():
        f['tree'] = tree_of(run('debugfs', '-R', 'ex /' + name, dev, check=False)[1],
                            run('debugfs', '-R', 'stat /' + name, dev, check=False)[1])
    return state_text(files)


def after_crash(m, spec, name, ops):
    image = '%s/img/crash-%s' % (m.work, name)
    loop = Loop(image)
    try:
        recover = 'needs_recovery' in run('dumpe2fs', '-h', loop.dev)
        run('mount', '-t', 'ext4', '-o', 'ro', loop.dev, m.mnt)
        try:
            files = file_state(m.mnt, ops, spec['skip_files'].split())
        finally:
            run('umount', m.mnt)
        return ('# files after a power cut at op "crash %s" and journal recovery\n'
                'needs_recovery: %s\n' % (name, str(recover).lower()) + check(loop.dev) +
                states(files, loop.dev))
    finally:
        loop.free()
        os.unlink(image)


def meta(name, spec, made, options, loop, inodes, before, on, lacking):
    h = {}
    for line in run('dumpe2fs', '-h', loop.dev).split('\n'):
        key, colon, value = line.partition(':')
        if colon:
            h.setdefault(key.strip(), value.strip())
    block = int(h['Block size'])
    first, blocks, per = (int(h[k]) for k in ('First block', 'Block count', 'Blocks per group'))
    groups = -(-(blocks - first) // per)
    features = h['Filesystem features'].split()
    desc = int(h.get('Group descriptor size', 64 if '64bit' in features else 32))
    journal, transaction = h.get('Total journal blocks', '0'), '0'
    for d in os.listdir('/proc/fs/jbd2') if os.path.isdir('/proc/fs/jbd2') else []:
        if d.split('-')[0] == loop.name:
            each = re.search(r'each up to (\d+) blocks', get('/proc/fs/jbd2/%s/info' % d))
            transaction = each[1] if each else '0'
    queue = '/sys/block/%s/queue/' % loop.name
    lines = [
        'name: ' + name, 'desc: "%s"' % spec['desc'].replace('"', "'"),
        'kernel: "%s"' % re.match(r'\d+(\.\d+)*', os.uname().release)[0],
        'machine: ' + os.uname().machine, 'page_size: %d' % mmap.PAGESIZE,
        'image_size: %d' % number(spec['size']), 'mke2fs: "%s"' % ' '.join(made),
        'mount: "%s"' % options,
        'mount_options_seen: [%s]' % ', '.join(
            '"%s"' % x for x in get('/proc/fs/ext4/%s/options' % loop.name).split()),
        'dev: "%d,%d"' % (loop.major, loop.minor), 'block_size: %d' % block,
        'cluster_size: %s' % h.get('Cluster size', block), 'blocks_count: %d' % blocks,
        'first_data_block: %d' % first, 'groups: %d' % groups, 'blocks_per_group: %d' % per,
        'clusters_per_group: %s' % h.get('Clusters per group', per), 'desc_size: %d' % desc,
        'gdb_count: %d' % -(-groups * desc // block),
        'reserved_gdt_blocks: %s' % h.get('Reserved GDT blocks', 0),
        'flex_bg_size: %s' % h.get('Flex block group size', 1),
        'inode_size: ' + h['Inode size'], 'inodes_per_group: ' + h['Inodes per group'],
        'features: [%s]' % ', '.join(features), 'journal_blocks: ' + journal,
        'max_transaction_blocks: ' + transaction,
        'read_ahead_kb: ' + get(queue + 'read_ahead_kb').strip(),
        'queue: {%s}' % ', '.join('%s: %s' % (k, get(queue + k).strip()) for k in (
            'logical_block_size', 'optimal_io_size', 'max_sectors_kb')),
        'files:' if inodes else 'files: {}',
    ]
    lines += ['  %s: %d' % x for x in sorted(inodes.items(), key=lambda x: x[::-1])]
    lines += ['files_before: [%s]' % ', '.join(sorted(before)), 'events: [%s]' % ', '.join(on),
              'events_not_in_kernel: [%s]' % ', '.join(lacking)]
    return '\n'.join(lines) + '\n'


def capture(m, spec_path, out):
    spec = read_spec(spec_path)
    image = m.work + '/img/fs'
    if os.path.exists(image):
        os.unlink(image)
    with open(image, 'w') as f:
        f.truncate(number(spec['size']))
    made = ['-F', '-U', UUID, '-E',
            'hash_seed=%s,lazy_itable_init=1,lazy_journal_init=1' % HASH_SEED]
    made += spec['mke2fs'].split()
    run('mke2fs', '-t', 'ext4', '-q', *made, image,
        env={'E2FSPROGS_FAKE_TIME': MADE_AT, 'SOURCE_DATE_EPOCH': MADE_AT})
    # Without a journal the kernel takes no commit interval.
    options = ','.join(filter(None, (spec['mount'], 'noinit_itable', 'no_prefetch_block_bitmaps',
                                     '' if '^has_journal' in spec['mke2fs'] else 'commit=300')))
    loop, mounted, files, taken = Loop(image), False, {}, []
    try:
        if spec['read_ahead_kb']:
            put('/sys/block/%s/queue/read_ahead_kb' % loop.name, spec['read_ahead_kb'])
        run('mount', '-t', 'ext4', '-o', options, loop.dev, m.mnt)
        mounted = True
        prepared = prepare(m, spec, loop, options)
        journal_thread_to_cpu0(loop)
        before = {e.name: e.inode() for e in os.scandir(m.mnt)
                  if e.is_file(follow_symlinks=False)}
        run('sync', '-f', m.mnt)
        on, lacking = start_trace(m, loop)
        numbered = ''.join('%d %s\n' % (i + 1, op) for i, op in enumerate(spec['ops']))
        ops = (prepared + numbered).split('\n')

        def done():
            # Closing a file may allocate its blocks, from what this CPU has set aside.
            os.sched_setaffinity(0, {0})
            taken.append(stop_trace(m))
            files.update(file_state(m.mnt, ops, spec['skip_files'].split()))

        results, crashes = traced(m, spec, image, done)
        run('sync', '-f', m.mnt)
        for name, f in file_state(m.mnt, [], [], content=False).items():
            if name in files and files[name]['content'] != 'left out':
                files[name]['fiemap_synced'] = f['fiemap']
                files[name]['st_blocks_synced'] = f['st_blocks']
        inodes = dict(before)
        for op, result in zip(spec['ops'], results.split('\n')):
            if op.split()[0] == 'open' and result.endswith(' ok'):
                inodes[op.split()[1]] = int(result.split()[1])
        about = meta(os.path.basename(os.path.normpath(out)), spec, made, options, loop, inodes,
                     before, on, lacking)
        run('umount', m.mnt)
        mounted = False
        state = ('# state when the last op had finished, before anything was closed or synced\n' +
                 check(loop.dev) + states(files, loop.dev))
        cuts = {}
        for name in crashes:
            known = [x for x in ops if x.endswith(' crash ' + name)]
            cuts[name] = after_crash(m, spec, name, ops[:ops.index(known[0]) + 1])
    finally:
        if mounted:
            run('umount', m.mnt, check=False)
        loop.free()
    os.makedirs(out, exist_ok=True)
    for name in os.listdir(out):
        if name.startswith(('crash-', 'events.txt')):
            os.unlink(out + '/' + name)
    for name, text in [('meta.yaml', about), ('ops.txt', numbered), ('results.txt', results),
                       ('events.txt', taken[0]), ('state.yaml', state), ('prepare.txt', prepared),
                       ('spec.txt', get(spec_path))]:
        if text:
            put(out + '/' + name, text)
    for name, text in cuts.items():
        put('%s/crash-%s.yaml' % (out, name), text)
    print('%s: %d operations, %d events' % (out, len(spec['ops']), taken[0].count('\n')))


def stop(number, frame):
    raise KeyboardInterrupt


def main():
    args = sys.argv[1:]
    if not args or len(args) % 2:
        print(__doc__, file=sys.stderr)
        return 2
    for s in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, stop)
    failed = 0
    try:
        with Machine() as m:
            for spec, out in zip(args[::2], args[1::2]):
                for left in range(TRIES, 0, -1):
                    try:
                        capture(m, spec, out)
                        break
                    except Disturbed as e:
                        if left == 1:
                            print('%s: disturbed: %s' % (spec, e), file=sys.stderr)
                            failed = 1
                        time.sleep(0.3)
                    except (OSError, RuntimeError, ValueError) as e:
                        print('%s: %s' % (spec, e), file=sys.stderr)
                        failed = 1
                        break
    except Missing as e:
        print('capture.py: %s' % e, file=sys.stderr)
        return 77
    except KeyboardInterrupt:
        return 130
    return failed


if __name__ == '__main__':
    sys.exit(main())
