! stream_f: STREAM's kernels in Fortran, under the same rules as stream (C).
!
! Build: gfortran -O2 -fopenmp src/stream/stream.f90 src/stream/clock.c -o stream_f.exe
! (the clock is the C program's). Element kind: double. Values and checks are
! those of arrays.h: exact in any order, so every element has one right value.
program stream_f
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  use, intrinsic :: iso_fortran_env, only: int64, error_unit, output_unit
  !$ use omp_lib
  implicit none

  integer, parameter :: reset_every = 2, ticks_at_least = 20
  integer(int64), parameter :: least_elements = 1000000_int64
  real(c_double), parameter :: start_value = 728523469133463.0d0 / 562949953421312.0d0
  real(c_double), parameter :: scalar = -1.5d0

  interface
    function clock_now() bind(c)
      import :: c_double
      real(c_double) :: clock_now
    end function
    function clock_tick() bind(c)
      import :: c_double
      real(c_double) :: clock_tick
    end function
    subroutine c_exit(status) bind(c, name='exit')
      import :: c_int
      integer(c_int), value :: status
    end subroutine
  end interface

  character(7), parameter :: label(4) = [character(7) :: 'Copy:', 'Scale:', 'Add:', 'Triad:']
  integer, parameter :: words(4) = [2, 2, 3, 3]
  character(*), parameter :: rule = repeat('-', 61)
  real(c_double), allocatable :: a(:), b(:), c(:), times(:, :)
  real(c_double) :: tick, started, expected(3)
  integer(int64) :: n, ntimes, i, wrong, least, turn
  integer :: k, it, threads, status
  character(64) :: reasons

  least = max(least_elements, 4 * llc_bytes() / 8)
  n = min(least, memory_available() / 5 * 4 / 24)
  ntimes = 10
  call read_options(n, ntimes)
  if (n > memory_available() / 24) call ask_again('the arrays asked for are larger than the &
      &memory available', "ask for smaller arrays with '-n'")
  allocate (a(n), b(n), c(n), times(4, ntimes), stat=status)
  if (status /= 0) call ask_again('no memory for the arrays', "ask for less with '-n'")
  threads = 1
  !$ threads = omp_get_max_threads()

  print '(a)', rule, 'membw stream_f 0.1.0, a STREAM-compatible program; Standard kernels', rule
  print '(a,i0,a,i0,a,i0)', 'Array size = ', n, ' (elements), kind double; Repetitions = ', &
      ntimes, ', Threads = ', threads
  print '(a)', rule

  !$omp parallel do schedule(static)
  do i = 1, n
    a(i) = start_value
    b(i) = 2
    c(i) = 0
  end do

  call expect(reset_every, expected(1), expected(2), expected(3))
  turn = ieor(transfer(expected(1), turn), transfer(start_value, turn))
  tick = clock_tick()
  do it = 1, int(ntimes)
    if (it > 1 .and. mod(it - 1, reset_every) == 0) then
      !$omp parallel do schedule(static)
      do i = 1, n
        a(i) = transfer(ieor(transfer(a(i), i), turn), 0.0d0)
      end do
    end if
    do k = 1, 4
      started = clock_now()
      select case (k)
      case (1)
        !$omp parallel do schedule(static)
        do i = 1, n
          c(i) = a(i)
        end do
      case (2)
        !$omp parallel do schedule(static)
        do i = 1, n
          b(i) = scalar * c(i)
        end do
      case (3)
        !$omp parallel do schedule(static)
        do i = 1, n
          c(i) = a(i) + b(i)
        end do
      case (4)
        !$omp parallel do schedule(static)
        do i = 1, n
          a(i) = b(i) + scalar * c(i)
        end do
      end select
      times(k, it) = clock_now() - started
    end do
  end do

  call expect(int(ntimes), expected(1), expected(2), expected(3))
  wrong = wrong_elements('a', a, expected(1)) + wrong_elements('b', b, expected(2)) &
      + wrong_elements('c', c, expected(3))

  print '(a)', 'Function    Best Rate MB/s  Avg time     Min time     Max time'
  do k = 1, 4
    print '(a,t13,f11.1,3(2x,f11.6))', label(k), &
        1d-6 * 8 * words(k) * n / minval(times(k, 2:)), &
        sum(times(k, 2:)) / (ntimes - 1), minval(times(k, 2:)), maxval(times(k, 2:))
  end do
  print '(a)', rule
  if (wrong == 0) then
    print '(a,i0,a)', 'Solution Validates: all 3 x ', n, ' elements hold the expected bits'
  else
    print '(a,i0,a)', 'Validation FAILED: ', wrong, ' elements differ from the expected bits'
  end if

  reasons = ''
  if (n < least) reasons = ', array-too-small'
  if (minval(times(:, 2:)) < ticks_at_least * tick) reasons = trim(reasons) // ', too-short'
  if (wrong > 0) reasons = trim(reasons) // ', not-validated'
  if (reasons == '') then
    print '(a)', 'Verdict: VALID'
    call leave(0)
  end if
  print '(a)', 'Verdict: INVALID (' // trim(reasons(3:)) // ')'
  call leave(1)

contains

  subroutine leave(status)
    integer, intent(in) :: status
    flush (output_unit)
    flush (error_unit)
    call c_exit(int(status, c_int))
  end subroutine

  subroutine ask_again(fact, hint)
    character(*), intent(in) :: fact, hint
    write (error_unit, '(a)') 'membw: ' // fact
    write (error_unit, '(a)') 'hint: ' // hint
    call leave(2)
  end subroutine

  subroutine read_count(option, text, least, value)
    character(*), intent(in) :: option, text
    integer(int64), intent(in) :: least
    integer(int64), intent(out) :: value
    integer :: status

    status = verify(trim(text), '0123456789')
    if (len_trim(text) == 0) status = 1
    if (status == 0) read (text, *, iostat=status) value
    if (status /= 0) call ask_again("'" // option // ' ' // trim(text) // &
        "' is not a number of things", 'give a whole number, as in 100000000')
    if (value < least) call ask_again("'" // option // ' ' // trim(text) // "' is too few", &
        trim(merge('give 2 or more: the first repetition is not counted', &
              'give 1 or more                                     ', least == 2)))
  end subroutine

  subroutine read_options(n, ntimes)
    integer(int64), intent(inout) :: n, ntimes
    character(64) :: option, text
    integer :: i

    i = 1
    do while (i <= command_argument_count())
      call get_command_argument(i, option)
      call get_command_argument(i + 1, text)
      select case (option)
      case ('-n', '--array-size')
        call read_count('-n', text, 1_int64, n)
      case ('-t', '--ntimes')
        call read_count('-t', text, 2_int64, ntimes)
      case ('-h', '--help')
        print '(a)', 'usage: stream_f [-n ELEMENTS] [-t NTIMES]'
        print '(a)', 'exit status: 0 measured and valid, 1 measured but INVALID, 2 asked wrongly'
        call leave(0)
      case default
        call ask_again("unknown option '" // trim(option) // "'", &
                       "'stream_f --help' lists the options")
      end select
      i = i + 2
    end do
  end subroutine

  ! The line of a file of /sys; blank where there is none.
  function line_of(path) result(line)
    character(*), intent(in) :: path
    character(256) :: line
    integer :: status, file

    line = ''
    open (newunit=file, file=path, status='old', action='read', iostat=status)
    if (status /= 0) return
    read (file, '(a)', iostat=status) line
    close (file)
  end function

  ! Bytes of the last-level caches of all CPUs, each shared one counted once:
  ! by the CPU that comes first in its list. The C program counts those used.
  function llc_bytes() result(total)
    integer(int64) :: total, size
    integer :: cpu, last, status
    character(256) :: folder, line, sharers

    total = 0
    do cpu = 0, 8191
      do last = 8, 0, -1
        write (folder, '(a,i0,a,i0)') '/sys/devices/system/cpu/cpu', cpu, '/cache/index', last
        line = line_of(trim(folder) // '/size')
        if (line /= '') exit
      end do
      if (line == '') return
      sharers = line_of(trim(folder) // '/shared_cpu_list')
      sharers = sharers(:scan(sharers // ' ', ',- ') - 1)
      read (sharers, *, iostat=status) last
      if (status == 0 .and. last /= cpu) cycle
      read (line(:verify(line, '0123456789') - 1), *, iostat=status) size
      if (index(line, 'K') > 0) size = size * 1024
      if (index(line, 'M') > 0) size = size * 1024 * 1024
      total = total + size
    end do
  end function

  function memory_available() result(bytes)
    integer(int64) :: bytes
    character(256) :: line
    integer :: file, status

    bytes = huge(bytes)
    open (newunit=file, file='/proc/meminfo', status='old', action='read', iostat=status)
    do while (status == 0)
      read (file, '(a)', iostat=status) line
      if (status /= 0 .or. index(line, 'MemAvailable:') /= 1) cycle
      read (line(14:), *) bytes
      bytes = bytes * 1024
      exit
    end do
  end function

  subroutine expect(ntimes, a, b, c)
    integer, intent(in) :: ntimes
    real(c_double), intent(out) :: a, b, c
    integer :: i

    a = start_value
    b = 2
    c = 0
    do i = (ntimes - 1) / reset_every * reset_every, ntimes - 1
      c = a
      b = scalar * c
      c = a + b
      a = b + scalar * c
    end do
  end subroutine

  ! Elements that differ from the one right value by a bit or more.
  function wrong_elements(name, x, expected) result(wrong)
    character, intent(in) :: name
    real(c_double), intent(in) :: x(:), expected
    integer(int64) :: wrong, i, bits

    wrong = 0
    bits = transfer(expected, bits)
    !$omp parallel do schedule(static) reduction(+:wrong)
    do i = 1, size(x, kind=int64)
      if (transfer(x(i), bits) /= bits) then
        wrong = wrong + 1
        !$omp critical
        print '(2x,a,a,i0,a,es24.16,a,z16.16,a,es24.16,a,z16.16,a)', name, '[', i - 1, &
            ']: expected', expected, ' (0x', bits, '), found', x(i), ' (0x', x(i), ')'
        !$omp end critical
      end if
    end do
  end function
end program
