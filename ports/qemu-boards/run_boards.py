#!/usr/bin/env python3
"""Runs the board programs in QEMU and judges them: run_boards.py BUILD [--quick] [--only TEXT] [--keep].

A run passes when the program ends well, the emulator's log has nothing but known lines (above all no program of a 0 bit
to 1), the image tool finds no error in the image, every file read out of it is what the program says it wrote, and the
same program on the host, on the emulated flash of this repository, made the same image byte by byte.
Prints "ok NAME" or "not ok NAME" for each case and "N passed, N failed" at the end.
"""
import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# What a port's author writes; the rest of ports/ is tests.
DRIVER_FILES = ('spinor.c', 'board_spinor.c', 'board_ast1030.c')
# Instructions inside the library, mean of the calls measured.
COUNT_LIMITS = {'open_read_close': 6000, 'create': 15000}
CUT = 3  # exit status (enum board_status) of a program that the power-cut bus ended


class Failed(Exception):
    """A case does not hold."""


def expect(condition, text):
    if not condition:
        raise Failed(text)


class Chip:
    """A flash chip that QEMU models. `known` are log lines in which the model is stricter or looser than the part."""
    def __init__(self, name, size, known=()):
        self.name, self.size, self.known = name, size, known


# The parts have the 32 KiB erase of the data sheet, the model does it and logs that it should not.
PARTS_WITH_32K = ('M25P80: 32768 erase size not supported by device',)
CHIPS = {chip.name: chip for chip in (
    Chip('w25q64', 8 << 20, PARTS_WITH_32K), Chip('w25q80bl', 1 << 20, PARTS_WITH_32K),
    Chip('w25q256', 32 << 20, PARTS_WITH_32K), Chip('mt25ql512ab', 64 << 20))}


class Board:
    """How a board is started. `known`: lines that the board's own reset logs."""
    def __init__(self, name, machine, known=()):
        self.name, self.machine, self.known = name, machine, known

    def command(self, build, image, chip, words, log):
        arguments = ''.join(',arg=' + word for word in ['board'] + words)
        machine = [word.format(chip=chip.name if chip else '', elf=os.path.join(build, self.name + '.elf'),
                               image=image, arguments=arguments) for word in self.machine]
        return machine + ['-display', 'none', '-monitor', 'none', '-serial', 'none', '-d', 'guest_errors',
                          '-trace', 'm25p80_programming_zero_to_one', '-D', log]


SEMIHOSTING = ['-semihosting-config', 'enable=on,target=native{arguments}']
CORTEX_M4 = Board('cortex-m4', ['qemu-system-arm', '-M', 'ast1030-evb,fmc-model={chip}', '-kernel', '{elf}',
                                '-drive', 'if=mtd,index=0,format=raw,file={image}'] + SEMIHOSTING,
                  ('Invalid read at addr 0x0, size 4', 'Invalid read at addr 0x4, size 4',
                   'aspeed_timer_ctrl_pulse_enable: Timer does not support pulse mode'))

# Its flash has no file: the program saves the volume as image.bin.
CORTEX_M0 = Board('cortex-m0', ['qemu-system-arm', '-M', 'microbit', '-kernel', '{elf}'] + SEMIHOSTING,
                  ('Invalid read at addr 0x0, size 4', 'Invalid read at addr 0x4, size 4'))
# The driver's test writes where the controller does not allow it.
NRF51 = Chip('nrf51', 128 << 10, ('flash_write: Flash write 0x20c00 while flash not writable.',))
RV32 = Board('rv32', ['qemu-system-riscv32', '-M', 'sifive_u', '-bios', 'none', '-kernel', '{elf}',
                      '-drive', 'if=mtd,format=raw,file={image}'] + SEMIHOSTING)
IS25WP256 = Chip('is25wp256', 32 << 20, PARTS_WITH_32K)
# No flash either; the program saves the RAM that stands for it.
LX106 = Board('lx106', ['qemu-system-xtensa', '-M', 'sim', '-cpu', 'lx106', '-m', '64', '-kernel', '{elf}'] + SEMIHOSTING)
RAM_CHIP = Chip('RAM', 2 << 20)


class Result:
    """How a program ended: exit status, the lines it printed, the log of the emulator."""
    def __init__(self, status, lines, log):
        self.status, self.lines, self.log = status, lines, log

    def first(self, word):
        """The words behind `word` of the first line that begins with it."""
        for line in self.lines:
            if line.startswith(word + ' '):
                return line.split()[1:]
        return []

    def expect_done(self):
        bad = [line for line in self.lines if line.startswith(('#', 'not ok', 'failed', 'fault'))]
        expect(self.status == 0 and self.lines and self.lines[-1] == 'done',
               'exit status %d: %s' % (self.status, '; '.join(bad + self.lines[-1:])))


class Bench:
    """One run of everything: where things are, what passed."""
    def __init__(self, build, options):
        self.tool = os.path.join(build, 'fastffs')
        self.build = os.path.join(build, 'boards')
        self.options = options
        self.passed = self.failed = 0
        self.work = tempfile.mkdtemp(prefix='work-', dir=self.build)

    def path(self, name):
        return os.path.join(self.work, name)

    # ---- Running ----

    def blank_image(self, size, name='image.bin'):
        with open(self.path(name), 'wb') as file:
            for _ in range(size >> 16):
                file.write(b'\xff' * 65536)
            file.write(b'\xff' * (size & 65535))
        return self.path(name)

    def boot(self, board, image, chip, words, timeout=240, extra=()):
        """Runs a program to its end. QEMU writes the chip's file behind the program's back, so it is the one to be asked
        to stop: on SIGTERM it first writes all."""
        log = image + '.log'
        command = board.command(self.build, image, chip, words, log) + list(extra)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.work,
                                   stdin=subprocess.DEVNULL)
        watchdog = threading.Timer(timeout, process.kill)
        watchdog.start()
        lines, status = [], None
        for line in process.stdout:
            line = line.decode('ascii', 'replace').rstrip('\n')
            if line.startswith('exit '):
                status = int(line[5:])
                process.terminate()
                break
            lines.append(line)
        process.stdout.read()
        process.wait()
        watchdog.cancel()
        expect(status is not None, 'no end within %d s: %s' % (timeout, '; '.join(lines[-3:])))
        return Result(status, lines, self.read_log(log))

    @staticmethod
    def read_log(log):
        if not os.path.exists(log):
            return []
        with open(log, errors='replace') as file:
            return file.read().splitlines()

    @staticmethod
    def expect_clean_log(board, chip, log):
        known = board.known + (chip.known if chip else ())
        bad = [line for line in log if not line.startswith(known)]
        expect(not bad, '%d lines in the log of the emulator, the first: %s' % (len(bad), bad[0] if bad else ''))

    def check_image(self, image):
        check = subprocess.run([self.tool, 'check', image], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        expect(check.returncode == 0, 'the image tool finds: ' + check.stdout.decode('utf-8', 'replace')[:300])

    def compare_files(self, image, files):
        """`files`: name -> (size, crc). The image holds exactly these."""
        folder = image + '.files'
        shutil.rmtree(folder, ignore_errors=True)
        extract = subprocess.run([self.tool, 'extract', '-q', image, folder], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
        expect(extract.returncode == 0, 'extract: ' + extract.stdout.decode('utf-8', 'replace')[:300])
        found = {}
        for place, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(place, name), 'rb') as file:
                    data = file.read()
                key = os.path.relpath(os.path.join(place, name), folder)
                found[key] = (len(data), '%08x' % zlib.crc32(data))
        wrong = sorted(set(found.items()) ^ set(files.items()))
        expect(not wrong, '%d files differ, for instance %s' % (len(wrong), wrong[:2]))

    def compare_with_host(self, image, words, board_run):
        """The same program on the host makes the same image and prints the same."""
        twin = self.path('host.bin')
        arguments = board_run.first('declares') + [word for word in words if '=' in word or word == 'mapped']
        run = subprocess.run([os.path.join(self.build, 'host')] + arguments + ['image=' + twin],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240)
        output = run.stdout.decode('ascii', 'replace').splitlines()
        expect(run.returncode == 0, 'the same on the host: ' + '; '.join(output[-3:]))
        skip = ('chip ', 'declares ', 'exit ')
        expect([line for line in output if not line.startswith(skip)] ==
               [line for line in board_run.lines if not line.startswith(skip)], 'the host prints something else')
        with open(image, 'rb') as a, open(twin, 'rb') as b:
            expect(a.read() == b.read(), 'the image differs from the one that the host makes')

    # ---- Cases ----

    def case(self, name, function, *arguments):
        if self.options.only and self.options.only not in name:
            return
        try:
            note = function(*arguments)
            self.passed += 1
            print('ok %s%s' % (name, '  # ' + note if note else ''), flush=True)
        except Failed as failure:
            self.failed += 1
            print('# %s\nnot ok %s' % (failure, name), flush=True)

    def run_driver(self, board, chip):
        result = self.boot(board, self.blank_image(chip.size), chip, ['run=driver'])
        result.expect_done()
        self.expect_clean_log(board, chip, result.log)
        return ' '.join(result.first('chip'))

    def run_break_rule(self, board, chip):
        """The checker itself: a program of 0 to 1 must show up in the log."""
        result = self.boot(board, self.blank_image(chip.size), chip, ['run=break-rule'])
        result.expect_done()
        expect(any('programming zero to one' in line for line in result.log), 'the emulator did not log it')

    def run_program(self, board, chip, words):
        """A program, its log, and its image by all three judges."""
        size = chip.size
        image = self.blank_image(size)
        result = self.boot(board, image, chip, words)
        result.expect_done()
        self.expect_clean_log(board, chip, result.log)
        files = self.files_of(result)
        expect(files, 'no files listed')
        self.check_image(image)
        self.compare_files(image, files)
        self.compare_with_host(image, words, result)
        return '%d files compared' % len(files)

    # ---- Power cuts ----

    def files_of(self, result):
        return {line.split()[1]: (int(line.split()[2]), line.split()[3])
                for line in result.lines if line.startswith('file ')}

    def power_words(self, setup, *more):
        return ['run=power'] + list(setup) + list(more)

    def verify_boot(self, board, chip, image, setup, lo, hi, steps=12, cut=None):
        """A reboot after a cut: the host reads the image as the cut left it, then the board mounts it, finds the step, does
        some more and unmounts. All three must agree. Gives the step found, and the one that the board left the volume at."""
        before = image + '.before'
        shutil.copyfile(image, before)
        words = self.power_words(setup, 'lo=%d' % lo, 'hi=%d' % hi, 'steps=%d' % steps, 'manifest')
        result = self.boot(board, image, chip, words)
        result.expect_done()
        self.expect_clean_log(board, chip, result.log)
        self.check_image(before)
        self.compare_files(before, self.files_of(result))
        self.check_image(image)
        found = int(result.first('state')[0])
        return found, found + steps

    def cut_once(self, base, worker, board, chip, setup, start, cut, torn, second):
        """Power goes at one operation; with `second` again at that one of the reboot."""
        image = self.path('cut%d.bin' % worker)
        shutil.copyfile(base, image)
        words = self.power_words(setup, 'lo=%d' % start, 'hi=%d' % start, 'steps=100000', 'cut=%d' % cut, 'torn=%d' % torn)
        result = self.boot(board, image, chip, words)
        expect(result.status == CUT, 'not cut: ' + '; '.join(result.lines[-3:]))
        self.expect_clean_log(board, chip, result.log)
        acked = max([start] + [int(line.split()[1]) for line in result.lines if line.startswith('acked ')])
        if second:
            words = self.power_words(setup, 'lo=%d' % acked, 'hi=%d' % (acked + 1), 'steps=1', 'cut=%d' % second,
                                     'torn=%d' % ((torn * 7 + 31) % 256))
            result = self.boot(board, image, chip, words)
            expect(result.status == CUT, 'not cut again: ' + '; '.join(result.lines[-3:]))
            self.expect_clean_log(board, chip, result.log)
        found, _ = self.verify_boot(board, chip, image, setup, acked, acked + (2 if second else 1))
        return found - acked

    def run_cuts(self, board, chip, setup, steps, choose):
        """A base image of so many steps; then from it power goes at each of the operations that `choose` picks from their
        kinds."""
        base = self.blank_image(chip.size, 'base.bin')
        result = self.boot(board, base, chip, self.power_words(setup, 'format', 'steps=%d' % steps))
        result.expect_done()
        trial = self.path('trial.bin')
        shutil.copyfile(base, trial)
        state = 'lo=%d' % steps, 'hi=%d' % steps
        result = self.boot(board, trial, chip, self.power_words(setup, 'steps=4000', *state))
        result.expect_done()
        kinds = result.first('operations')[0]
        plan = choose(kinds)
        expect(len(plan) > 0, 'no operation to cut among ' + kinds[:200])
        completed, failures = [0, 0], []
        lock = threading.Lock()

        def work(worker):
            while True:
                with lock:
                    if not plan or failures:
                        return
                    cut, torn, second = plan.pop(0)
                try:
                    after = self.cut_once(base, worker, board, chip, setup, steps, cut, torn, second)
                    with lock:
                        completed[1 if after else 0] += 1
                except Failed as failure:
                    with lock:
                        failures.append('cut=%d (%s) torn=%d second=%d: %s' % (cut, kinds[cut - 1], torn, second, failure))
        workers = [threading.Thread(target=work, args=(worker,)) for worker in range(self.options.jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        expect(not failures, '; '.join(failures))
        return '%d cuts, the change under way was done in %d' % (sum(completed), completed[1])

    def boot_and_kill(self, board, chip, image, setup, lo, hi, acks, exact):
        """Boots, waits for so many acknowledged steps, stops the power. Gives the state at boot, and the last step
        acknowledged. exact: QEMU is stopped first, which writes everything to the file."""
        log, socket_path = image + '.log', self.path('qmp')
        words = self.power_words(setup, 'lo=%d' % lo, 'hi=%d' % hi, 'steps=1000000', 'manifest')
        command = board.command(self.build, image, chip, words, log) + ['-qmp', 'unix:%s,server=on,wait=off' % socket_path]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.work,
                                   stdin=subprocess.DEVNULL)
        watchdog = threading.Timer(120, process.kill)
        watchdog.start()
        lines = []
        for line in process.stdout:
            lines.append(line.decode('ascii', 'replace').rstrip('\n'))
            acks -= lines[-1].startswith('acked ')
            if acks <= 0 or lines[-1].startswith('exit '):
                break
        if exact and process.poll() is None:
            self.stop(socket_path)
        process.kill()
        lines += process.stdout.read().decode('ascii', 'replace').split('\n')[:-1] # a line that was cut too does not count
        process.wait()
        watchdog.cancel()
        result = Result(None, lines, self.read_log(log))
        expect(acks <= 0, 'ended by itself: ' + '; '.join(lines[-3:]))
        self.expect_clean_log(board, chip, result.log)
        state = int(result.first('state')[0])
        return state, max([state] + [int(line.split()[1]) for line in lines if line.startswith('acked ')]), result

    @staticmethod
    def stop(socket_path):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(60)
            connection.connect(socket_path)
            with connection.makefile('rw') as stream:
                stream.readline()
                stream.write('{"execute":"qmp_capabilities"}{"execute":"stop"}')
                stream.flush()
                while 'STOP' not in stream.readline():
                    pass
                stream.readline()

    def is_early(self, image):
        """Whether a raw kill left what no flash can hold: QEMU writes a page of the index as it is when the write runs, with
        records programmed meanwhile, and the data that they lead to, programmed before them, is not in the file yet. Then
        all that the tool finds is records whose nodes are blank."""
        copy = image + '.early'
        shutil.copyfile(image, copy)
        check = subprocess.run([self.tool, 'check', copy], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        findings = [line for line in check.stdout.decode('utf-8', 'replace').splitlines() if ': I1: offset ' in line]
        if check.returncode != 4 or not findings:
            return False
        with open(copy, 'rb') as file:
            data = file.read()
        for line in findings:
            place = re.search(r'offset 0x([0-9a-f]+), (\d+) bytes .*a record leads to no valid node$', line)
            if not place:
                return False
            end = int(place.group(1), 16) + int(place.group(2))
            if data[end - 18:end] != b'\xff' * 18: # the node's trailer
                return False
        return True

    def run_kills(self, board, chip, setup, count, exact):
        """So many boots on one image, each killed at a time of its own. After an exact cut all that was acknowledged must
        be there. After a raw kill the file may be some earlier state, but one of the history."""
        image = self.blank_image(chip.size)
        self.boot(board, image, chip, self.power_words(setup, 'format')).expect_done()
        lo = hi = lost = early = last = 0
        before = image + '.before'
        random = 12345
        for number in range(count):
            random = (random * 1103515245 + 12345) & 0x7fffffff
            shutil.copyfile(image, before)
            state, acked, result = self.boot_and_kill(board, chip, image, setup, lo, hi, 1 + (random >> 16) % 80, exact)
            self.check_image(before)
            self.compare_files(before, self.files_of(result))
            if not exact:
                lost += state < last
                if self.is_early(image):
                    early += 1
                    shutil.copyfile(before, image) # this boot counts for nothing: again from where it began
                    continue
            lo, hi, last = (acked if exact else state), acked + 1, acked
        found, end = self.verify_boot(board, chip, image, setup, lo, hi)
        expect(early * 2 <= count, '%d of %d kills left records without their data' % (early, count))
        return '%d boots, %d steps%s' % (count, end, '' if exact else
                                         ', %d kills lost acknowledged steps, %d left the file out of order' % (lost, early))

    def run_power_self_test(self, board, chip, setup):
        """The judge itself: a volume that is not in the range allowed must be refused."""
        image = self.blank_image(chip.size)
        self.boot(board, image, chip, self.power_words(setup, 'format', 'steps=30')).expect_done()
        for lo, hi in ((0, 29), (31, 40)):
            result = self.boot(board, image, chip, self.power_words(setup, 'lo=%d' % lo, 'hi=%d' % hi))
            expect(result.status == 1, 'a state outside %d .. %d was accepted' % (lo, hi))

    def cortex_m0(self):
        board = CORTEX_M0
        self.case('cortex-m0.driver', self.run_driver, board, NRF51)
        self.case('cortex-m0.scenarios', self.run_program, board, NRF51, ['run=scenarios'])
        self.case('cortex-m0.baseline', self.run_program, board, NRF51, ['run=baseline'])
        self.case('cortex-m0.scenarios.page', self.run_program, board, NRF51, ['run=scenarios', 'sector=1024'])
        self.case('cortex-m0.baseline.page', self.run_program, board, NRF51, ['run=baseline', 'sector=1024'])
        self.case('cortex-m0.baseline.no_cache', self.run_program, board, NRF51, ['run=baseline', 'cache=0'])

    def rv32(self):
        self.case('rv32.is25wp256.driver', self.run_driver, RV32, IS25WP256)
        self.case('rv32.is25wp256.scenarios', self.run_program, RV32, IS25WP256, ['run=scenarios'])
        self.case('rv32.is25wp256.baseline', self.run_program, RV32, IS25WP256, ['run=baseline'])
        self.case('rv32.is25wp256.baseline.default', self.run_program, RV32, IS25WP256,
                  ['run=baseline', 'scratch=512', 'write_buffer=0'])

    def lx106(self):
        self.case('lx106.driver', self.run_driver, LX106, RAM_CHIP)
        for program in 'scenarios', 'baseline':
            self.case('lx106.' + program, self.run_program, LX106, RAM_CHIP, ['run=' + program])
            self.case('lx106.%s.cache' % program, self.run_program, LX106, RAM_CHIP,
                      ['run=' + program, 'scratch=512', 'cache=4096', 'file_buffer=256'])

    def power(self):
        board, quick = CORTEX_M4, self.options.quick
        small = ['keys=40', 'most=700', 'volume=180224', 'files=64']
        self.case('cortex-m4.power.self-test', self.run_power_self_test, board, CHIPS['w25q80bl'], small)

        def first_operations(kinds):
            """Each of the first 320; part done, none, all in turn; every fifth is cut again in the reboot."""
            torn = (0, 255, 17, 90, 128, 200, 254, 60, 1, 240)
            return [(n, torn[n % 10], 1 + n // 5 % 9 if n % 5 == 0 else 0) for n in range(1, 321) if n <= len(kinds)]

        def block_erases(kinds):
            """Erases of 32 and 64 KiB, each stopped at several places."""
            places = [n + 1 for n, kind in enumerate(kinds) if kind in 'hb'][:3 if quick else 12]
            return [(n, torn, 0) for n in places for torn in (0, 20, 128, 240, 255)]
        self.case('cortex-m4.power.every-operation', self.run_cuts, board, CHIPS['w25q80bl'], small, 400, first_operations)
        large = ['keys=60', 'most=9000', 'volume=1048576']
        self.case('cortex-m4.power.block-erases', self.run_cuts, board, CHIPS['w25q80bl'], large, 400, block_erases)
        exact, raw = (40, 20) if quick else (120, 80)
        for setup, name in ((small, 'small'), (large, 'large')):
            self.case('cortex-m4.power.exact.' + name, self.run_kills, board, CHIPS['w25q64'], setup, exact, True)
            self.case('cortex-m4.power.kill.' + name, self.run_kills, board, CHIPS['w25q64'], setup, raw, False)

    # ---- Instruction counts ----

    def write_functions(self, elf):
        """The functions of the program for the plugin: address range, class, name."""
        listing = subprocess.run(['arm-none-eabi-nm', '-S', '-l', '--defined-only', elf], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, check=True).stdout.decode('ascii', 'replace')
        ranges = {}
        for line in listing.splitlines():
            words, _, place = line.partition('\t')
            words = words.split()
            if len(words) != 4 or words[2] not in 'tT':
                continue
            start, size = int(words[0], 16) & ~1, int(words[1], 16)
            source = os.path.relpath(place.rpartition(':')[0] or '/', ROOT)
            kind = 'L' if source.startswith('src/') else 'P' if source.startswith(('ports/', 'bench/')) else 'M'
            if os.path.basename(source) in DRIVER_FILES:
                kind = 'D'
            ranges[start] = (start + size, kind, words[3])
        path = self.path('functions')
        with open(path, 'w') as file:
            for start in sorted(ranges):
                file.write('%x %x %s %s\n' % ((start,) + ranges[start]))
        return path

    def run_counts(self, board, chip):
        """Instructions of each operation, library and driver apart, against the limits."""
        out = self.path('counts')
        plugin = 'file=%s,functions=%s,out=%s' % (os.path.join(self.build, 'count_plugin.so'), self.write_functions(
            os.path.join(self.build, board.name + '.elf')), out)
        result = self.boot(board, self.blank_image(chip.size), chip, ['run=counts', 'counts'], extra=['-plugin', plugin])
        result.expect_done()
        self.expect_clean_log(board, chip, result.log)
        totals = {}
        with open(out) as file:
            for line in file:
                words = line.split()
                if words[0] == 'total':
                    totals.setdefault(words[1], {})[words[2]] = [int(word) for word in words[3:]]
        self.print_counts(board, totals)
        shutil.copy(out, os.path.join(self.build, 'counts.txt'))
        for operation, limit in COUNT_LIMITS.items():
            calls, total, most = totals[operation]['L']
            expect(calls > 0 and total <= limit * calls, '%s takes %d instructions inside the library, the limit is %d' %
                   (operation, total // max(calls, 1), limit))

    def print_counts(self, board, totals):
        print('# instructions on %s' % board.name)
        print('# %-20s %6s %10s %10s %10s %10s' % ('operation', 'calls', 'library', 'at most', 'driver', 'at most'))
        with open(os.path.join(self.build, 'counts.csv'), 'w') as file:
            file.write('board,operation,calls,library_mean,library_max,driver_mean,driver_max\n')
            for operation, classes in totals.items():
                calls, library, library_max = classes['L']
                _, driver, driver_max = classes['D']
                if calls == 0:
                    continue
                row = (operation, calls, library // calls, library_max, driver // calls, driver_max)
                print('# %-20s %6d %10d %10d %10d %10d' % row)
                file.write('%s,%s,%d,%d,%d,%d,%d\n' % ((board.name,) + row))

    def cortex_m4(self):
        board = CORTEX_M4
        self.case('cortex-m4.break-rule', self.run_break_rule, board, CHIPS['w25q64'])
        for chip in CHIPS.values():
            self.case('cortex-m4.%s.driver' % chip.name, self.run_driver, board, chip)
            self.case('cortex-m4.%s.scenarios' % chip.name, self.run_program, board, chip, ['run=scenarios'])
            baseline = ['run=baseline'] + (['medium=40000'] if chip.size <= 1 << 20 else [])
            self.case('cortex-m4.%s.baseline' % chip.name, self.run_program, board, chip, baseline)
        self.case('cortex-m4.w25q64.scenarios.mapped', self.run_program, board, CHIPS['w25q64'],
                  ['run=scenarios', 'mapped', 'cache=0', 'scratch=256', 'file_buffer=72'])
        self.case('cortex-m4.w25q64.scenarios.write_buffer', self.run_program, board, CHIPS['w25q64'],
                  ['run=scenarios', 'scratch=4096', 'write_buffer=4096'])
        self.case('cortex-m4.w25q64.baseline.mapped', self.run_program, board, CHIPS['w25q64'],
                  ['run=baseline', 'mapped', 'cache=0', 'scratch=256', 'file_buffer=16'])
        self.case('cortex-m4.w25q64.counts', self.run_counts, board, CHIPS['w25q64'])


# Rows of the README; docs/BOARDS.md has all.
README_ROWS = ('create', 'replace', 'open_read_close', 'exists_missing', 'delete', 'list_500', 'mount_500', 'gc_moved',
               'gc_committed', 'gc_erased')
ROW_TEXTS = {
    'create': 'create a file of 64 B', 'replace': 'replace it', 'open_read_close': 'open, read, close it',
    'write_1k': 'write 1 KiB to an open file', 'read_1k': 'read 1 KiB', 'seek_read_1': 'seek and read a byte',
    'stat': 'stat', 'exists_missing': 'a name that is not there', 'delete': 'delete',
    'list_500': 'list 500 files with `fffs_list`', 'dir_read': 'one entry with `fffs_dir_read`', 'space': 'space',
    'mount_500': 'mount 500 files', 'mount_500_unclean': 'mount them after an unclean stop', 'unmount': 'unmount',
    'gc_idle': 'gc step, nothing to do', 'gc_looked': 'gc step that only looked', 'gc_moved': 'gc step that moved',
    'gc_committed': 'gc step that committed', 'gc_erased': 'gc step that erased', 'gc_rotated': 'gc step that rewrote an index unit'}


def update_docs(build):
    """Puts the counts of the last run into the documents."""
    with open(os.path.join(build, 'boards', 'counts.csv')) as file:
        rows = [line.strip().split(',')[1:] for line in file][1:]
    for path, chosen in (('docs/BOARDS.md', None), ('README.md', README_ROWS)):
        table = ['| operation | library, mean | at most | driver, mean | at most |', '|---|--:|--:|--:|--:|']
        for operation, _, *numbers in rows:
            if chosen is None or operation in chosen:
                table.append('| %s | %s |' % (ROW_TEXTS[operation], ' | '.join('{:,}'.format(int(n)) for n in numbers)))
        with open(os.path.join(ROOT, path)) as file:
            head, mark, rest = file.read().partition('<!-- boards: counts -->\n')
        if not mark:
            raise SystemExit('%s has no place for the counts' % path)
        with open(os.path.join(ROOT, path), 'w') as file:
            file.write(head + mark + '\n'.join(table) + '\n' + rest[rest.index('<!-- end -->'):])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('build')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--docs', action='store_true', help='put the last counts into the documents, run nothing')
    parser.add_argument('--only', default='')
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.docs:
        update_docs(os.path.abspath(options.build))
        return 0
    bench = Bench(os.path.abspath(options.build), options)
    try:
        bench.cortex_m4()
        bench.cortex_m0()
        bench.rv32()
        bench.lx106()
        bench.power()
    finally:
        if options.keep:
            print('# kept: ' + bench.work)
        else:
            shutil.rmtree(bench.work, ignore_errors=True)
    print('%d passed, %d failed' % (bench.passed, bench.failed))
    return 0 if bench.failed == 0 and bench.passed > 0 else 1


if __name__ == '__main__':
    sys.exit(main())
