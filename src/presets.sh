# shellcheck shell=sh disable=SC2016,SC2034
# For src/build.sh. Edit configs/presets.yaml and blas.yaml, of which it is made by
# `python -m membw.presets.generate`.
made_of='1871595612 17223'
machines='x86_64 aarch64 ppc64le riscv64'
families='gcc gfortran clang icc icx aocc nvc atfl armclang cce fcc icc13'
presets='gcc-o2 gfortran-o2 icc-avx2 icc13-knc icc13-knc-huge gcc-o3 gcc-native gcc-arm-native gcc-power-native gcc-freestanding gcc-avx2 clang-o2 clang-o3 clang-native clang-arm-native clang-power-native clang-avx2 icc-o2 icc-nt icx-o2 icx-avx2 icx-nt aocc-o2 aocc-o3 aocc-nt gcc-ofast gcc-arm-ofast nvc-o3 armclang-mcpu atfl-mcpu cce-o3 fcc-zfill gcc-offload clang-offload icx-offload'
blas_rows='mkl-intel mkl-sequential mkl-gnu mkl-icx openblas-openmp openblas-pthreads blis-openmp aocl armpl nvpl'
family_row() { case $1 in
gcc) compiler=gcc openmp_option=-fopenmp macros='__GNUC__ __GNUC_MINOR__ __GNUC_PATCHLEVEL__' value='' language=c ;;
gfortran) compiler=gfortran openmp_option=-fopenmp macros='__GNUC__ __GNUC_MINOR__ __GNUC_PATCHLEVEL__' value='' language=fortran ;;
clang) compiler=clang openmp_option=-fopenmp macros='__clang_major__ __clang_minor__ __clang_patchlevel__' value='' language=c ;;
icc) compiler=icc openmp_option=-qopenmp macros='__INTEL_COMPILER __INTEL_COMPILER_UPDATE' value='' language=c ;;
icx) compiler=icx openmp_option=-qopenmp macros=__INTEL_LLVM_COMPILER value='' language=c ;;
aocc) compiler=clang openmp_option=-fopenmp macros=__VERSION__ value='AOCC_[0-9.]+' language=c ;;
nvc) compiler=nvc openmp_option=-mp macros='__NVCOMPILER_MAJOR__ __NVCOMPILER_MINOR__' value='' language=c ;;
atfl) compiler=armclang openmp_option=-fopenmp macros=__VERSION__ value='^"Arm Toolchain for Linux' language=c ;;
armclang) compiler=armclang openmp_option=-fopenmp macros='__armclang_major__ __armclang_minor__' value='' language=c ;;
cce) compiler=craycc openmp_option=-fopenmp macros='__cray_major__ __cray_minor__ __cray_patchlevel__' value='' language=c ;;
fcc) compiler=fcc openmp_option=-Kopenmp macros='__FCC_major__ __FCC_minor__ __FCC_patchlevel__' value='' language=c ;;
icc13) compiler=icc openmp_option=-openmp macros='__INTEL_COMPILER __INTEL_COMPILER_UPDATE' value='^1[0-4][0-9][0-9]' language=c ;;
*) return 1 ;;
esac; }
preset_row() { case $1 in
gcc-o2) family=gcc requires=x86_64 line='-O2 $openmp $defs -mcmodel=medium' ;;
gfortran-o2) family=gfortran requires='' line='-O2 $openmp' ;;
icc-avx2) family=icc requires='x86_64 avx2' line='-O3 -xCORE-AVX2 -ffreestanding $openmp $defs' ;;
icc13-knc) family=icc13 requires=mic line='-mmic -O3 $openmp $defs -opt-prefetch-distance=64,8 -opt-streaming-cache-evict=0 -opt-streaming-stores always' ;;
icc13-knc-huge) family=icc13 requires=mic line='-mmic -O3 $openmp $defs -opt-prefetch-distance=64,8 -opt-streaming-cache-evict=0 -opt-streaming-stores always -Wl,-T"$libhugetlbfs"/ldscripts/elf_x86_64.xBDT -L"$libhugetlbfs"/obj64' ;;
gcc-o3) family=gcc requires='' line='-O3 $openmp $defs' ;;
gcc-native) family=gcc requires=x86_64 line='-O3 -march=native $openmp $defs' ;;
gcc-arm-native) family=gcc requires=aarch64 line='-O3 -mcpu=native $openmp $defs' ;;
gcc-power-native) family=gcc requires=ppc64le line='-O3 -mcpu=native $openmp $defs' ;;
gcc-freestanding) family=gcc requires=x86_64 line='-O3 -march=native -ffreestanding $openmp $defs' ;;
gcc-avx2) family=gcc requires='x86_64 avx2' line='-O3 -mavx2 $openmp $defs' ;;
clang-o2) family=clang requires='' line='-O2 $openmp $defs' ;;
clang-o3) family=clang requires='' line='-O3 $openmp $defs' ;;
clang-native) family=clang requires=x86_64 line='-O3 -march=native $openmp $defs' ;;
clang-arm-native) family=clang requires=aarch64 line='-O3 -mcpu=native $openmp $defs' ;;
clang-power-native) family=clang requires=ppc64le line='-O3 -mcpu=native $openmp $defs' ;;
clang-avx2) family=clang requires='x86_64 avx2' line='-O3 -mavx2 $openmp $defs' ;;
icc-o2) family=icc requires=x86_64 line='-O2 $openmp $defs' ;;
icc-nt) family=icc requires='x86_64 avx2' line='-O3 -xCORE-AVX2 -ffreestanding $openmp $defs -qopt-streaming-stores=always' ;;
icx-o2) family=icx requires=x86_64 line='-O2 $openmp $defs' ;;
icx-avx2) family=icx requires='x86_64 avx2' line='-O3 -xCORE-AVX2 -ffreestanding $openmp $defs' ;;
icx-nt) family=icx requires='x86_64 avx2' line='-O3 -xCORE-AVX2 -ffreestanding $openmp $defs -qopt-streaming-stores=always' ;;
aocc-o2) family=aocc requires=x86_64 line='-O2 $openmp $defs' ;;
aocc-o3) family=aocc requires='x86_64 avx2' line='-O3 -mavx2 $openmp $defs' ;;
aocc-nt) family=aocc requires='x86_64 avx2' line='-O3 -mavx2 $openmp $defs -ffp-contract=fast -fnt-store' ;;
gcc-ofast) family=gcc requires=x86_64 line='-Ofast -march=native $openmp $defs' ;;
gcc-arm-ofast) family=gcc requires=aarch64 line='-Ofast -march=native $openmp $defs' ;;
nvc-o3) family=nvc requires='' line='-O3 $openmp $defs' ;;
armclang-mcpu) family=armclang requires=aarch64 line='-O3 -mcpu=native $openmp $defs' ;;
atfl-mcpu) family=atfl requires=aarch64 line='-O3 -mcpu=native $openmp $defs' ;;
cce-o3) family=cce requires='' line='-O3 $openmp $defs' ;;
fcc-zfill) family=fcc requires='aarch64 sve' line='-Kfast,zfill $openmp $defs' ;;
gcc-offload) family=gcc requires='' line='-O3 $openmp $defs -foffload=nvptx-none' ;;
clang-offload) family=clang requires='' line='-O3 $openmp $defs -fopenmp-targets=nvptx64-nvidia-cuda' ;;
icx-offload) family=icx requires=x86_64 line='-O3 -fiopenmp $defs -fopenmp-targets=spir64' ;;
*) return 1 ;;
esac; }
blas_row() { case $1 in
mkl-intel) folder='' environment='' row_compile=-xHost row_link=-mkl ;;
mkl-sequential) folder='' environment=MKLROOT row_compile='-m64 -I"$MKLROOT"/include' row_link='-L"$MKLROOT"/lib/intel64 -Wl,--no-as-needed -lmkl_intel_lp64 -lmkl_sequential -lmkl_core -lpthread -lm -ldl' ;;
mkl-gnu) folder='' environment=MKLROOT row_compile='-m64 -I"$MKLROOT"/include' row_link='-L"$MKLROOT"/lib/intel64 -L"$MKLROOT"/lib -Wl,--no-as-needed -lmkl_intel_lp64 -lmkl_gnu_thread -lmkl_core -lgomp -lpthread -lm -ldl' ;;
mkl-icx) folder='' environment='' row_compile=-xHost row_link=-qmkl ;;
openblas-openmp) folder='/usr/lib/*/openblas-openmp' environment='' row_compile='' row_link=-lopenblas ;;
openblas-pthreads) folder='/usr/lib/*/openblas-pthread' environment='' row_compile='' row_link=-lopenblas ;;
blis-openmp) folder='/usr/lib/*/blis-openmp' environment='' row_compile='' row_link=-lblis ;;
aocl) folder='' environment='' row_compile='' row_link=-lblis-mt ;;
armpl) folder='' environment='' row_compile='' row_link=-larmpl_lp64_mp ;;
nvpl) folder='' environment='' row_compile='' row_link=-lnvpl_blas_lp64_gomp ;;
*) return 1 ;;
esac; }
