#!/usr/bin/env python3
"""Images with nodes made by hand after docs/FORMAT.md, for the tests of fastffs salvage.

usage: craft_nodes.py WHAT FILE     WHAT: data_crc embedded tables dispute bomb mutateN
"""
import random
import struct
import sys
import zlib

MULTI, TABLES, DATA_CRC = 1, 2, 8


def node(name, size, stamp, flags=0, extents=(), refs=(), data_crc=None, pad=0):
    """The bytes of a node; `extents` are (address, end in the file), `refs` addresses of table blocks, newest first."""
    name = name.encode()
    slot = zlib.crc32(name) & 0xFFFF
    body = b''
    if flags & TABLES:
        body += b''.join(struct.pack('<I', ref) for ref in refs) + struct.pack('<H', len(refs))
    body += b''.join(struct.pack('<II', *extent) for extent in extents)
    if flags & DATA_CRC:
        body += struct.pack('<I', data_crc)
    body += name + struct.pack('<IIHBBBB', size, stamp, slot, len(name), pad, flags, len(extents))
    return body + struct.pack('<I', zlib.crc32(body))


def single(name, data, stamp, crc=True):
    flags = DATA_CRC if crc else 0
    return data + node(name, len(data), stamp, flags, data_crc=zlib.crc32(data) if crc else None)


def table(previous, start, index, extents):
    body = struct.pack('<IIHH', previous, start, len(extents), index) + b''.join(struct.pack('<II', *e) for e in extents)
    return body + struct.pack('<I', zlib.crc32(body))


class Image:
    def __init__(self, size=65536):
        self.bytes = bytearray(b'\xff' * size)
        self.at = 4096

    def put(self, data):
        where = self.at
        self.bytes[where:where + len(data)] = data
        self.at += len(data) + 3
        return where


def data_crc(image):
    image.put(single('good', b'right' * 100, 1))
    where = image.put(single('bad', b'wrong' * 100, 2))
    image.bytes[where + 17] ^= 4
    image.put(single('repaired', b'old', 4))
    where = image.put(single('repaired', b'newer bytes', 5))
    image.bytes[where] ^= 1
    where = image.put(single('taker', b'these bytes were given to another file', 9))
    image.put(node('overwritten', 10, 3, MULTI, [(where + 5, 10)]))


def embedded(image):
    image.put(single('config', b'mine', 3, crc=False))
    image.put(single('firmware', b'code' * 50 + single('config', b'theirs', 900, crc=False) + b'more' * 9, 7))


def tables(image):
    pieces = [image.put(bytes([letter]) * 10) for letter in b'abcdef']
    ends = [10 * (i + 1) for i in range(6)]
    entries = list(zip(pieces, ends))
    first = image.put(table(0, 0, 0, entries[:2]))
    second = image.put(table(first, 20, 1, entries[2:4]))
    image.put(node('whole', 60, 1, MULTI | TABLES, entries[4:], [second, first]))
    other = image.put(table(0, 0, 0, entries[:2]))
    image.bytes[other + 14] ^= 1
    image.put(node('cut', 40, 2, MULTI | TABLES, entries[2:4], [other]))


def dispute(image):
    where = image.put(b'both want these bytes')
    image.put(node('first', 10, 1, MULTI, [(where, 10)]))
    image.put(node('second', 10, 2, MULTI, [(where + 5, 10)]))


def bomb(image):
    """Every node claims nearly the whole image, many through one table that lists it byte by byte."""
    size = len(image.bytes)
    count = 1500
    first = image.put(table(0, 0, 0, [(i, i + 1) for i in range(count)]))
    for i in range(900):
        if image.at + 100 > size:
            break
        if i % 2:
            image.put(node('n%d' % i, size - 1, i, MULTI, [(0, size - 1)]))
        else:
            image.put(node('t%d' % i, count, i, MULTI | TABLES, [], [first]))
    image.put(node('huge', 0x7FFFFFFF, 1, MULTI, [(0, 0x7FFFFFFF)]))
    image.put(node('wrap', 0x1000, 1, MULTI, [(0xFFFFF800, 0x1000)]))


def mutate(image, seed):
    """Valid things, then random bytes over them; CRCs made right again for half of the nodes by making nodes at random."""
    rng = random.Random(seed)
    data_crc(image)
    embedded(image)
    tables(image)
    for _ in range(60):
        if image.at + 600 > len(image.bytes):
            break
        name = ''.join(rng.choice('ab./\n%') for _ in range(rng.randint(1, 9)))
        flags = rng.choice([0, MULTI, MULTI | TABLES, DATA_CRC])
        size = rng.choice([0, 1, 50, rng.randrange(1 << 31)])
        extents = [(rng.randrange(70000), rng.randrange(1, 200)) for _ in range(rng.randint(0, 9))] if flags & MULTI else []
        refs = [rng.choice([rng.randrange(70000), rng.randrange(1 << 32)]) for _ in range(rng.randint(0, 4))]
        image.put(node(name, size, rng.randrange(1 << 32), flags, extents, refs, rng.randrange(1 << 32), rng.randrange(256)))
    for _ in range(rng.randint(0, 40)):
        image.bytes[rng.randrange(len(image.bytes))] ^= 1 << rng.randrange(8)
    if seed % 3 == 0:
        del image.bytes[rng.randrange(len(image.bytes)):]


def main():
    what, path = sys.argv[1:3]
    image = Image()
    if what.startswith('mutate'):
        mutate(image, int(what[6:]))
    else:
        {'data_crc': data_crc, 'embedded': embedded, 'tables': tables, 'dispute': dispute, 'bomb': bomb}[what](image)
    with open(path, 'wb') as out:
        out.write(image.bytes)


main()
