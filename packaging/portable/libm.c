// The functions of which glibc 2.29 has new versions, as the versions before: portable objects then load with
// glibc 2.28, of which Debian's mirrors have no packages any more. sysroot puts them before libm.so.
#define AS_BEFORE(name, parameters, arguments)                  \
    __asm__(".symver before_" #name ", " #name "@GLIBC_2.2.5"); \
    double before_##name parameters;                            \
    double name parameters;                                     \
    double name parameters {                                    \
        return before_##name arguments;                         \
    }
AS_BEFORE(exp, (double x), (x))
AS_BEFORE(exp2, (double x), (x))
AS_BEFORE(log, (double x), (x))
AS_BEFORE(log2, (double x), (x))
AS_BEFORE(pow, (double x, double y), (x, y))
