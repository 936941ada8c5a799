! stream: STREAM's four loops in Fortran, for the program that is otherwise C.
!
! Build: gfortran -O2 -fopenmp stream.f90 stream_f.c -o stream_f.exe
!
! stream_f.c is the whole program but for these loops: the same options, record, verdict
! and validation. Each subroutine is one kernel of kernels/kernels.h, by its name; Fortran's
! dummy arguments do not overlap. The threads' parts are those of a static schedule: their borders
! lie up to a quarter as many cache lines from those of the first touch as there are threads.

subroutine kernel_copy(a, b, c, s, n) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_size_t
  implicit none
  integer(c_size_t), value :: n
  real(c_double), intent(inout) :: a(n), b(n), c(n)
  real(c_double), value :: s
  integer(c_size_t) :: i

  !$omp parallel do schedule(static)
  do i = 1, n
    c(i) = a(i)
  end do
end subroutine

subroutine kernel_scale(a, b, c, s, n) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_size_t
  implicit none
  integer(c_size_t), value :: n
  real(c_double), intent(inout) :: a(n), b(n), c(n)
  real(c_double), value :: s
  integer(c_size_t) :: i

  !$omp parallel do schedule(static)
  do i = 1, n
    b(i) = s * c(i)
  end do
end subroutine

subroutine kernel_add(a, b, c, s, n) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_size_t
  implicit none
  integer(c_size_t), value :: n
  real(c_double), intent(inout) :: a(n), b(n), c(n)
  real(c_double), value :: s
  integer(c_size_t) :: i

  !$omp parallel do schedule(static)
  do i = 1, n
    c(i) = a(i) + b(i)
  end do
end subroutine

subroutine kernel_triad(a, b, c, s, n) bind(c)
  use, intrinsic :: iso_c_binding, only: c_double, c_size_t
  implicit none
  integer(c_size_t), value :: n
  real(c_double), intent(inout) :: a(n), b(n), c(n)
  real(c_double), value :: s
  integer(c_size_t) :: i

  !$omp parallel do schedule(static)
  do i = 1, n
    a(i) = b(i) + s * c(i)
  end do
end subroutine
