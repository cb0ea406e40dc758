# SPDX-License-Identifier: MIT
"""Operations of a capture, as system calls of this process, announced in the trace.

The byte that operation N writes at offset o says so: it is byte o & 7 of word(N, o >> 3).
"""
import ctypes, ctypes.util, errno, fcntl, mmap, os, re, struct, time

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                      ctypes.c_int64]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
for f in ('mprotect', 'madvise', 'msync'):
    getattr(libc, f).argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
libc.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]
libc.pwrite.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64]
libc.pwrite.restype = ctypes.c_ssize_t
libc.statx.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_char_p]

PAGE = mmap.PAGESIZE
HUGE = 2 << 20
FAILED = ctypes.c_void_p(-1).value
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
AT_EMPTY_PATH, AT_STATX_DONT_SYNC, STATX_INO, STATX_INO_AT = 0x1000, 0x4000, 0x100, 32
EXT4_IOC_MOVE_EXT = 0xc028660f
CHUNK = 1 << 20
MODES = {'0': 0, 'keep_size': 1, 'punch': 3, 'collapse': 8, 'zero': 0x10, 'zero_keep': 0x11,
         'insert': 0x20, 'unshare': 0x40}
ADVICE = {'normal': 0, 'random': 1, 'sequential': 2, 'willneed': 3, 'dontneed': 4, 'noreuse': 5}
MADVICE = {'random': 1, 'seq': 2, 'willneed': 3, 'huge': 14}


class Missing(Exception):
    """Something that captures need is not there."""


def number(s):
    m = re.fullmatch(r'(0x[0-9a-fA-F]+|\d+)([KkMmGgTt]?)', s)
    if not m:
        raise ValueError('expected a number, got %r' % s)
    return int(m[1], 0) << {'': 0, 'k': 10, 'm': 20, 'g': 30, 't': 40}[m[2].lower()]


def expand(line):
    """The operations that a line stands for."""
    m = re.match(r'for (\w+) (\S+) (\S+) (\S+):\s*(.*)$', line)
    if not m:
        return [line]
    return [re.sub(r'\{([^}]*)\}',
                   lambda x: str(eval(x[1], {'__builtins__': {}},
                                      {m[1]: v, 'K': 1024, 'M': 1 << 20})), m[5])
            for v in range(*map(number, m.group(2, 3, 4)))]


def word(op, w):
    x = op * 37 & 0x7f
    middle = bytes(0x80 | (w >> 7 * i & 0x7f) ^ x for i in range(5))
    last = op + 3 * (op >> 7) + w + 5 * (w >> 7) + 7 * (w >> 14) + 11 * (w >> 21) + 13 * (w >> 28)
    return bytes((0x80 | op & 0x7f, 0x80 | (op >> 7 & 0x7f) ^ x)) + middle + \
        bytes((0x80 | last + 0x55 & 0x7f,))


def data(op, off, length):
    first = off >> 3
    words = b''.join(word(op, w) for w in range(first, (off + length + 7 >> 3)))
    return words[off & 7:(off & 7) + length]


def checked(result):
    """The result of a call of libc, or its error as an exception."""
    if result < 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))
    return result


class Mapping:
    """Pages of a file, at an address that is the offset modulo 2M: a fault maps by address."""

    def __init__(self, fd, off, length, prot=mmap.PROT_READ | mmap.PROT_WRITE):
        self.first = off & ~(PAGE - 1)
        self.size = off + length - self.first
        self.room = self.size + 2 * HUGE
        self.base = libc.mmap(None, self.room, 0, 0x4022, -1, 0)    # PRIVATE ANON NORESERVE
        at = (self.base + HUGE - 1 & ~(HUGE - 1)) + (self.first & HUGE - 1)
        self.at = libc.mmap(at, self.size, prot, 0x11, fd, self.first)    # SHARED FIXED
        if self.at in (None, FAILED):
            e = ctypes.get_errno()
            libc.munmap(self.base, self.room)
            raise OSError(e, os.strerror(e))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        libc.munmap(self.base, self.room)

    def bytes(self, off, length):
        at = self.at + off - self.first
        return memoryview((ctypes.c_char * length).from_address(at)).cast('B')


class Operations:
    """Runs [(number, text), ...] in a folder; ask: pipes to the process that takes power cuts."""

    def __init__(self, folder, ops, marker=None, results=None, pause=0, ask=None):
        self.folder, self.ops, self.pause, self.ask = folder, ops, pause, ask
        self.marker, self.results, self.files = marker, results, {}
        self.op = 0
        self.rest = {}
        # Stores and loads copy from and to a file in memory: a page that is not there is an error.
        self.memory = None

    def run(self):
        libc.prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0)
        libc.prctl(PR_SET_NAME, b'foliosim-ops', 0, 0, 0)
        os.chdir(self.folder)
        self.memory = os.memfd_create('foliosim')
        marker = os.open(self.marker, os.O_WRONLY) if self.marker else -1
        out = []
        for self.op, text in self.ops:
            words = text.split()
            args = [w for w in words[1:] if '=' not in w]
            self.rest = dict(w.split('=', 1) for w in words[1:] if '=' in w)
            do = getattr(self, 'op_' + words[0], None)
            if not do:
                raise ValueError('no such operation: ' + text)
            call = do(*args)    # what takes time and is no system call is done first
            if marker >= 0:
                time.sleep(self.pause)
                os.write(marker, b'foliosim op %d %s' % (self.op, text.encode()))
            try:
                result, name = call() or 0, 'ok'
            except OSError as e:
                result, name = -1, errno.errorcode.get(e.errno, str(e.errno))
            out.append('%d %d %s\n' % (self.op, result, name))
        if marker >= 0:
            time.sleep(self.pause)
            os.write(marker, b'foliosim end')
        if self.results:
            with open(self.results, 'w') as f:
                f.write(''.join(out))
        if self.ask:
            self.request('end')

    def request(self, what):
        os.write(self.ask[0], what.encode())
        os.read(self.ask[1], 1)

    def fd(self, name):
        if name not in self.files:
            raise OSError(errno.EBADF, 'not open')
        return self.files[name]

    def nap(self):
        if 'pause' in self.rest:
            time.sleep(int(self.rest['pause']) / 1000)

    def op_open(self, name, *how):
        flags = os.O_RDONLY if 'ro' in how else os.O_RDWR | os.O_CREAT
        for key, flag in (('trunc', os.O_TRUNC), ('excl', os.O_EXCL), ('sync', os.O_SYNC),
                          ('dsync', os.O_DSYNC), ('direct', os.O_DIRECT)):
            flags |= flag if key in how else 0

        def call():
            fd = os.open(name, flags, 0o644)
            if name in self.files:
                os.close(self.files[name])
            self.files[name] = fd
            # The number alone: asking for times changes how the next change of them is kept.
            buf = ctypes.create_string_buffer(256)
            checked(libc.statx(fd, b'', AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, buf))
            return struct.unpack_from('=Q', buf, STATX_INO_AT)[0]
        return call

    def op_close(self, name):
        def call():
            fd = self.fd(name)
            del self.files[name]
            os.close(fd)
        return call

    def pieces(self, name, off, length, how):
        step = number(self.rest.get('chunk', str(length))) or 1
        done = 0
        while done < length or not length:
            if done:
                self.nap()
            want = min(step, length - done)
            try:
                n = how(self.fd(name), off + done, done, want)
            except OSError:
                if not done:
                    raise
                break
            done += n
            if n < want or not length:
                break
        return done

    def aligned(self, length):
        """Memory that direct I/O takes."""
        return mmap.mmap(-1, max(length, 1))

    def op_write(self, name, off, length):
        off, length = number(off), number(length)
        buf = self.aligned(length)
        buf[:length] = data(self.op, off, length)
        view = memoryview(buf)
        return lambda: self.pieces(name, off, length, lambda fd, at, done, n:
                                   os.pwrite(fd, view[done:done + n], at))

    def op_append(self, name, length):
        length = number(length)

        def call():
            off = os.lseek(self.fd(name), 0, os.SEEK_END)
            buf = self.aligned(length)
            buf[:length] = data(self.op, off, length)
            return os.pwrite(self.fd(name), memoryview(buf)[:length], off)
        return call

    def op_writebad(self, name, off, length, good):
        off, length, good = number(off), number(length), number(good)
        pages = good + PAGE - 1 & ~(PAGE - 1)
        size = pages + length + PAGE
        base = libc.mmap(None, size, 3, 0x22, -1, 0)
        ctypes.memmove(base + pages - good, data(self.op, off, good), good)
        checked(libc.mprotect(base + pages, length + PAGE & ~(PAGE - 1), 0))
        return lambda: checked(libc.pwrite(self.fd(name), base + pages - good, length, off))

    def op_writeevery(self, name, off, length, piece, stride):
        off, length, piece, stride = map(number, (off, length, piece, stride))

        def call():
            for at in range(off, off + length, stride):
                os.pwrite(self.fd(name), data(self.op, at, piece), at)
            return length
        return call

    def op_read(self, name, off, length):
        off, length = number(off), number(length)
        view = memoryview(self.aligned(length))
        return lambda: self.pieces(name, off, length, lambda fd, at, done, n:
                                   os.preadv(fd, [view[done:done + n]], at))

    def store(self, name, off, length, stride):
        off, length = number(off), number(length)
        bytes_ = data(self.op, off, length)
        at = 0
        while at < len(bytes_):
            at += os.pwrite(self.memory, bytes_[at:at + CHUNK], at)

        def call():
            done, pos = 0, 0
            with Mapping(self.fd(name), off, length) as m:
                while pos < length:
                    n = 1 if stride else min(length - pos, PAGE - (off + pos & PAGE - 1))
                    if pos:
                        self.nap()
                    os.preadv(self.memory, [m.bytes(off + pos, n)], pos)
                    done += n
                    pos += stride or n
            return done
        return call

    def op_mwrite(self, name, off, length):
        return self.store(name, off, length, 0)

    def op_mtouch(self, name, off, length, stride):
        return self.store(name, off, length, number(stride))

    def op_mread(self, name, off, length):
        off, length = number(off), number(length)

        def call():
            with Mapping(self.fd(name), off, length, mmap.PROT_READ) as m:
                if 'madv' in self.rest:
                    libc.madvise(m.at, m.size, MADVICE.get(self.rest['madv'], 0))
                for at in range(off, off + length, 512):
                    os.pwrite(self.memory, m.bytes(at, 1), 0)
            return length
        return call

    def op_msync(self, name, off, length):
        def call():
            with Mapping(self.fd(name), number(off), number(length)) as m:
                return checked(libc.msync(m.at, m.size, 4))
        return call

    def op_truncate(self, name, size):
        return lambda: os.ftruncate(self.fd(name), number(size))

    def op_fallocate(self, name, mode, off, length):
        return lambda: checked(libc.fallocate(self.fd(name), MODES[mode], number(off),
                                              number(length)))

    def op_punchevery(self, name, off, length, hole, stride):
        off, length, hole, stride = map(number, (off, length, hole, stride))

        def call():
            for at in range(off, off + length, stride):
                checked(libc.fallocate(self.fd(name), MODES['punch'], at, hole))
        return call

    def op_fill(self, name, unit='64M'):
        def call():
            fd, step = self.fd(name), number(unit)
            at, least = os.lseek(fd, 0, os.SEEK_END), os.fstatvfs(fd).f_frsize
            while step >= least:
                if not libc.fallocate(fd, 0, at, step):
                    at += step
                    continue
                if ctypes.get_errno() != errno.ENOSPC:
                    checked(-1)
                at = -(-os.lseek(fd, 0, os.SEEK_END) // least) * least
                step //= 2
            return at
        return call

    def op_fsync(self, name):
        return lambda: os.fsync(self.fd(name))

    def op_fdatasync(self, name):
        return lambda: os.fdatasync(self.fd(name))

    def op_syncrange(self, name, off, length):
        return lambda: checked(libc.sync_file_range(self.fd(name), number(off), number(length), 7))

    def op_syncfs(self):
        def call():
            fd = os.open('.', os.O_RDONLY)
            try:
                return checked(libc.syncfs(fd))
            finally:
                os.close(fd)
        return call

    def op_sync(self):
        return os.sync

    def op_dropcaches(self, what='1'):
        def call():
            fd = os.open('/proc/sys/vm/drop_caches', os.O_WRONLY)
            try:
                os.write(fd, what.encode())
            finally:
                os.close(fd)
        return call

    def op_fadvise(self, name, off, length, advice):
        return lambda: os.posix_fadvise(self.fd(name), number(off), number(length), ADVICE[advice])

    def op_moveext(self, name, donor, off, length, donor_off=None):
        page = os.statvfs('.').f_frsize
        off, length = number(off), number(length)
        there = off if donor_off is None else number(donor_off)

        def call():
            arg = bytearray(struct.pack('=IIQQQQ', 0, self.fd(donor), off // page, there // page,
                                        length // page, 0))
            fcntl.ioctl(self.fd(name), EXT4_IOC_MOVE_EXT, arg, True)
            return struct.unpack('=IIQQQQ', arg)[5]
        return call

    def op_copyrange(self, name, off, to, to_off, length):
        return lambda: os.copy_file_range(self.fd(name), self.fd(to), number(length), number(off),
                                          number(to_off))

    def op_unlink(self, name):
        return lambda: os.unlink(name)

    def op_mkdir(self, name):
        return lambda: os.mkdir(name, 0o755)

    def op_rename(self, name, to):
        def call():
            os.rename(name, to)
            if name in self.files:
                if to in self.files:    # open still, without a name
                    self.files[to + '~'] = self.files[to]
                self.files[to] = self.files.pop(name)
        return call

    def op_sleep_ms(self, ms):
        return lambda: time.sleep(int(ms) / 1000)

    def op_crash(self, name):
        return lambda: self.request('crash ' + name)
