//! seccomp: the system calls that a program needs to compute, and no other.
//!
//! The list says what is answered; whatever is not on it fails with `EPERM`. A call that could do more than compute is
//! answered for harmless arguments alone: reading and writing on the channel, memory that is not executable, threads and not
//! processes, `SIGABRT` to oneself.

use std::collections::BTreeMap;

use libc::{c_int, c_long};
use rustix::fd::{AsRawFd as _, BorrowedFd};
use rustix::process::getpid;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// Installs the filter on the calling thread.
pub(crate) fn restrict(channel: BorrowedFd<'_>, threads: bool) -> Result<(), seccompiler::Error> {
    let arch = std::env::consts::ARCH.try_into()?;
    let filter = |rules, otherwise, matched| -> Result<BpfProgram, BackendError> {
        SeccompFilter::new(rules, otherwise, matched, arch)?.try_into()
    };
    // Where to look for flags `clone3` can't be filtered; a C library that finds it missing uses `clone`.
    let missing = filter(
        BTreeMap::from([(libc::SYS_clone3, Vec::new())]),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::ENOSYS.unsigned_abs()),
    )?;
    let answered = filter(
        answered(channel, threads)?,
        SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        SeccompAction::Allow,
    )?;
    seccompiler::apply_filter(&missing)?;
    seccompiler::apply_filter(&answered)
}

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// Every call that is answered, with the arguments that it is answered for.
fn answered(channel: BorrowedFd<'_>, threads: bool) -> Result<Rules, BackendError> {
    let mut rules: Rules = ANYWAY.iter().map(|call| (*call, Vec::new())).collect();
    let mut when = |call: c_long, conditions: Vec<SeccompCondition>| -> Result<(), BackendError> {
        rules.entry(call).or_default().push(SeccompRule::new(conditions)?);
        Ok(())
    };
    let channel = channel.as_raw_fd();
    for read in [libc::SYS_read, libc::SYS_readv] {
        for from in [libc::STDIN_FILENO, channel] {
            when(read, vec![is(0, from)?])?;
        }
    }
    for write in [libc::SYS_write, libc::SYS_writev] {
        for to in [libc::STDOUT_FILENO, libc::STDERR_FILENO, channel] {
            when(write, vec![is(0, to)?])?;
        }
    }
    for look in [libc::F_GETFD, libc::F_GETFL] {
        when(libc::SYS_fcntl, vec![is(1, look)?])?;
    }
    for memory in [libc::SYS_mmap, libc::SYS_mprotect] {
        when(memory, vec![has(2, libc::PROT_EXEC, 0)?])?;
    }
    when(libc::SYS_prlimit64, vec![is(0, 0)?, is_null(2)?])?;
    when(libc::SYS_prctl, vec![is(0, libc::PR_SET_NAME)?])?;
    when(libc::SYS_tgkill, vec![is(0, getpid().as_raw_nonzero().get())?, is(2, libc::SIGABRT)?])?;
    if threads {
        when(libc::SYS_clone, vec![has(0, libc::CLONE_THREAD, libc::CLONE_THREAD)?])?;
    }
    Ok(rules)
}

/// Answered with any arguments.
const ANYWAY: &[c_long] = &[
    // Memory.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    // Waiting.
    libc::SYS_futex,
    libc::SYS_ppoll,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_sched_yield,
    libc::SYS_restart_syscall,
    // Time, chance, and what it has used.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_times,
    libc::SYS_sched_getaffinity,
    // Itself.
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_fstat,
    libc::SYS_close,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // The beginnings of a thread. Whether there is one is `clone`'s to say.
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    // Refused by a filter of its own.
    libc::SYS_clone3,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_time,
];

/// The argument is this number.
fn is(argument: u8, value: c_int) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Eq,
        u64::from(value.unsigned_abs()),
    )
}

/// The argument is no address.
fn is_null(argument: u8) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)
}

/// Of these bits the argument has those.
fn has(argument: u8, bits: c_int, set: c_int) -> Result<SeccompCondition, BackendError> {
    let bits = SeccompCmpOp::MaskedEq(u64::from(bits.unsigned_abs()));
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, bits, u64::from(set.unsigned_abs()))
}
