# SPDX-License-Identifier: MIT
"""What the files of a captured file system are like: sizes, extents, whose bytes they hold."""
import array, fcntl, os, re, struct

from capture_ops import number, word

FIEMAP = 0xc020660b
FLAGS = ((1, 'last'), (2, 'unknown'), (4, 'delalloc'), (8, 'encoded'), (0x80, 'encrypted'),
         (0x100, 'unaligned'), (0x200, 'inline'), (0x400, 'tail'), (0x800, 'unwritten'),
         (0x1000, 'merged'), (0x2000, 'shared'))
EXTENTS = 256


def fiemap(path):
    fd = os.open(path, os.O_RDONLY)
    out, start, last = [], 0, False
    try:
        while not last:
            buf = array.array('B', struct.pack('=QQIIII', start, (1 << 64) - 1 - start, 0, 0,
                                               EXTENTS, 0) + bytes(56 * EXTENTS))
            fcntl.ioctl(fd, FIEMAP, buf, True)
            n = struct.unpack_from('=I', buf, 20)[0]
            for i in range(n):
                at, phys, length, _, _, flags = struct.unpack_from('=QQQQQI', buf, 32 + 56 * i)
                words = [name for bit, name in FLAGS if flags & bit]
                out.append('[%d, %d, %d, %s]' % (at, phys, length, '+'.join(words) or 'none'))
                start, last = at + length, bool(flags & 1)
            if not n:
                break
    finally:
        os.close(fd)
    return out


class Writers:
    """Which bytes each operation of an op list (lines "N OP") may have written."""

    def __init__(self, lines):
        self.parts, self.order, self.shifts = {}, [], []
        for line in lines:
            w = [x for x in line.split() if '=' not in x]
            if len(w) < 3:
                continue
            n, kind = int(w[0]), w[1]
            if kind == 'append':
                part = (0, 1 << 62, 1)
            elif kind == 'writeevery':
                part = (0, 1 << 62, 1)
            elif kind in ('write', 'writebad', 'mwrite'):
                part = (number(w[3]), number(w[3]) + number(w[4]), 1)
            elif kind == 'mtouch':
                part = (number(w[3]), number(w[3]) + number(w[4]), number(w[5]))
            else:
                if kind == 'fallocate' and w[3] in ('collapse', 'insert'):
                    self.shifts.append((n, w[2], w[3] == 'insert', number(w[4]), number(w[5])))
                continue
            self.parts[n] = (w[2], *part)
            self.order.insert(0, n)

    def wrote(self, op, at, length):
        if at < 0 or op not in self.parts:
            return False
        _, first, end, stride = self.parts[op]
        return first <= at and at + length <= end and \
            not (length == 1 and (at - first) % stride)

    def before_shifts(self, op, at):
        """Where the byte of @op was that collapses and inserts since have moved to @at, or None."""
        for n, name, insert, off, length in reversed(self.shifts):
            if name != self.parts[op][0] or (n < op < 16001):
                continue
            if insert and off <= at < off + length:
                return None
            if insert:
                at -= length if at >= off + length else 0
            else:
                at += length if at >= off else 0
        return at


def read_word(b, writers):
    """(operation, offset) that these 8 bytes say, or None."""
    if len(b) < 8 or not all(c & 0x80 for c in b):
        return None
    op = b[0] & 0x7f
    x = op * 37 & 0x7f
    op |= ((b[1] ^ x) & 0x7f) << 7
    x = op * 37 & 0x7f
    w = sum(((b[2 + i] ^ x) & 0x7f) << 7 * i for i in range(5))
    return (op, w << 3) if word(op, w) == bytes(b) and writers.wrote(op, w << 3, 8) else None


class Runs:
    """Pieces [offset, length, source, offset written at], those that go on joined."""

    def __init__(self):
        self.v = []

    def add(self, at, length, source, origin=None):
        if self.v:
            a, n, s, o = self.v[-1]
            if a + n == at and s == source and (o is None) == (origin is None) and \
               (o is None or o + n == origin):
                self.v[-1] = (a, n + length, s, o)
                return
        self.v.append((at, length, source, origin))


def mixed_word(at, b, left, right, writers, runs):
    """Bytes of more than one source: each as what stands beside it, else by the list."""
    here = None
    for i, c in enumerate(b):
        if not c:
            runs.add(at + i, 1, 'zero')
            continue

        def says(op, origin):
            return origin is not None and origin >= 0 and word(op, origin >> 3)[origin & 7] == c \
                and writers.wrote(op, origin, 1)

        found = None
        for ctx in (here, left, right):
            if ctx and not found and says(ctx[0], at + i + ctx[1]):
                found = ctx
        for op in writers.order:
            for delta in (0, *(x[1] for x in (left, right) if x)):
                if not found and says(op, at + i + delta):
                    found = (op, delta)
        for op in writers.order if writers.shifts else ():
            if not found and says(op, writers.before_shifts(op, at + i)):
                found = (op, writers.before_shifts(op, at + i) - at - i)
        if found:
            here = found
            runs.add(at + i, 1, found[0], at + i + found[1])
        else:
            runs.add(at + i, 1, 'raw, %02x' % c)
    return here


def provenance(path, writers):
    runs, left, at = Runs(), None, 0
    fd = os.open(path, os.O_RDONLY)
    try:
        size = os.lseek(fd, 0, os.SEEK_END)
        while at < size:
            try:
                start = os.lseek(fd, at, os.SEEK_DATA) & ~7
            except OSError:
                start = size
            if start > at:
                runs.add(at, start - at, 'zero')
                at, left = start, None
                continue
            buf = os.pread(fd, 1 << 20, at)
            nxt = read_word(buf[:8], writers)
            for i in range(0, len(buf), 8):
                b, got = buf[i:i + 8], nxt
                after = buf[i + 8:i + 16]
                nxt = read_word(after, writers) if len(after) == 8 else None
                if not any(b):
                    runs.add(at + i, len(b), 'zero')
                    left = None
                elif len(b) == 8 and got:
                    runs.add(at + i, 8, *got)
                    left = (got[0], got[1] - at - i)
                else:
                    right = (nxt[0], nxt[1] - at - i - 8) if nxt else None
                    here = mixed_word(at + i, b, left, right, writers, runs)
                    if not right and here and len(b) == 8:
                        left = here
            at += len(buf)
    finally:
        os.close(fd)
    return runs.v


def content(path, extents, size, writers):
    """Runs as text; zeros where nothing is mapped are holes."""
    mapped = []
    for x in extents:
        at, _, length, _ = x.strip('[]').split(', ')
        mapped.append((int(at), int(at) + int(length)))
    out = []
    for at, length, source, origin in provenance(path, writers):
        if source != 'zero':
            out.append('[%d, %d, %s%s]' % (at, length, source, ', %d' % origin if
                                           origin is not None and origin != at else ''))
            continue
        end = min(at + length, size)
        for first, stop in mapped + [(end, end)]:
            if stop <= at and first < end:
                continue
            first, stop = max(min(first, end), at), min(stop, end)
            if first > at:
                out.append('[%d, %d, hole]' % (at, first - at))
            if stop > first:
                out.append('[%d, %d, zero]' % (first, stop - first))
            at = max(stop, at)
            if at >= end:
                break
    return out


def joined(runs):
    """Zeros of neighbouring extents are one run."""
    out = []
    for x in runs:
        at, length, *rest = x.strip('[]').split(', ')
        if out and rest == ['zero'] and out[-1][2:] == rest and \
           int(out[-1][0]) + int(out[-1][1]) == int(at):
            out[-1][1] = str(int(out[-1][1]) + int(length))
        else:
            out.append([at, length, *rest])
    return ['[%s]' % ', '.join(x) for x in out]


def file_state(folder, ops, skip, content=True):
    files = {}
    writers = Writers(ops)
    for e in sorted(os.scandir(folder), key=lambda e: e.name):
        if not e.is_file(follow_symlinks=False):
            continue
        st = os.lstat(e.path)
        files[e.name] = {'ino': st.st_ino, 'size': st.st_size, 'st_blocks': st.st_blocks,
                         'fiemap': fiemap(e.path)}
    for name, f in files.items():
        if name in skip:
            f['content'] = 'left out'
            f['fiemap'] = 'left out (%d extents)' % len(f['fiemap'])
        elif content:
            f['content'] = joined(globals()['content']('%s/%s' % (folder, name), f['fiemap'],
                                                       f['size'], writers))
    return files


def tree_of(extents, stat):
    """From what debugfs says to "ex" and to "stat"."""
    inline = re.search(r'Size of inline data:\s*(\d+)', stat)
    if inline:
        return {'kind': 'inline', 'inline_size': inline[1]}
    if 'EXTENTS:' not in stat and 'BLOCKS:' in stat and 'Logical' not in extents:
        blocks = stat.split('BLOCKS:', 1)[1]
        total = re.search(r'TOTAL: (\d+)', blocks)
        return {'kind': 'indirect', 'ind': blocks.count('(IND)'), 'dind': blocks.count('(DIND)'),
                'tind': blocks.count('(TIND)'), 'total_blocks': total[1] if total else 0}
    t = {'kind': 'extents', 'depth': 0, 'index_blocks': 0, 'leaf_blocks': 0, 'extents': 0,
         'unwritten': 0}
    for level, depth, rest in re.findall(r'^\s*(\d+)/\s*(\d+)\s+\d+/\s*\d+(.*)$', extents, re.M):
        t['depth'] = int(depth)
        if level == depth:
            t['extents'] += 1
            t['unwritten'] += 'Uninit' in rest
        elif int(level) + 1 == int(depth):
            t['leaf_blocks'] += 1
        else:
            t['index_blocks'] += 1
    return t


def state_text(files):
    out = ['files:' if files else 'files: {}']

    def listed(key, v):
        out.append('    %s:%s' % (key, ' ' + v if isinstance(v, str) else '' if v else ' []'))
        out.extend('      - ' + x for x in v if not isinstance(v, str))

    for name, f in files.items():
        out.append('  %s:' % name)
        out.extend('    %s: %d' % (k, f[k]) for k in ('ino', 'size', 'st_blocks'))
        listed('fiemap', f['fiemap'])
        if 'fiemap_synced' in f:
            same = f['fiemap_synced'] == f['fiemap']
            listed('fiemap_synced', 'same' if same else f['fiemap_synced'])
            out.append('    st_blocks_synced: %d' % f['st_blocks_synced'])
        listed('content', f['content'])
        if 'tree' in f:
            out.append('    tree:')
            out.extend('      %s: %s' % x for x in f['tree'].items())
    return '\n'.join(out) + '\n'
