//! The memory of one engine: counted where the engine asks the system for it, and refused there.
//!
//! The engine keeps small blocks in pages of its own, so that this is asked for pages and large blocks only. It has a bound
//! of its own, which is not used: what happens when memory is refused has to be known, for two reasons.
//!
//! - A program can throw an error with the engine's words; whether memory was refused, it can't forge.
//! - An engine that was refused memory makes an error, and collects garbage for it. In the middle of giving an object room for
//!   more properties its lists are not in order, and collecting then is the end of the process. There it grows two blocks,
//!   the second one by less; so directly behind a growth there may be another one that is not larger. Past the limit that
//!   is the end of the run, at the engine's next check.

use std::cell::Cell;
use std::rc::Rc;

use dsh_code_runtime::Failure;
use rquickjs::allocator::{Allocator, RustAllocator};

use super::realm::out_of_memory;

/// What one engine holds, and how much it may.
#[derive(Clone, Default)]
pub(super) struct Memory(Rc<Counts>);

#[derive(Default)]
struct Counts {
    held: Cell<usize>,
    peak: Cell<usize>,
    /// Without one there is no bound.
    limit: Cell<Option<usize>>,
    refused: Cell<bool>,
    /// Whether a growth went past the limit.
    over: Cell<bool>,
    /// How much a block grew by, if nothing else has happened since.
    grown: Cell<usize>,
}

/// Of this size a block is no value of a program's, but what the engine needs to say that there is no memory.
const SMALL: usize = 8 << 10;
/// What there is for small blocks past the limit.
const SPARE: usize = 128 << 10;

impl Memory {
    /// The most bytes that were held at a time.
    pub(super) fn peak(&self) -> u64 {
        self.0.peak.get() as u64
    }

    /// Bounds what is held from now on.
    pub(super) fn bound(&self, limit: usize) {
        self.0.limit.set(Some(limit));
    }

    /// Whether the engine was ever refused memory.
    pub(super) fn was_refused(&self) -> bool {
        self.0.refused.get()
    }

    /// What one engine is to allocate with.
    pub(super) fn allocator(&self) -> Counting {
        Counting(self.clone())
    }

    /// Whether a growth went past the limit.
    pub(super) fn is_overrun(&self) -> bool {
        self.0.over.get()
    }

    /// The failure of a program that has no memory.
    pub(super) fn exhausted(&self) -> Failure {
        out_of_memory(self.0.limit.get().unwrap_or(usize::MAX))
    }

    /// Whether a new block of so many bytes may be held.
    fn admits(&self, bytes: usize) -> bool {
        self.0.grown.set(0);
        self.is_within(bytes) || self.is_spared(bytes)
    }

    /// Whether a block may grow by so many bytes.
    fn admits_growth(&self, more: usize) -> bool {
        let admitted = self.is_within(more) || self.is_paired(more) || self.is_spared(more);
        self.0.grown.set(if admitted { more } else { 0 });
        admitted
    }

    /// Whether a growth past the limit belongs to the one before; at most as much again as the limit.
    fn is_paired(&self, more: usize) -> bool {
        let most = self.0.limit.get().unwrap_or(usize::MAX).saturating_mul(2);
        let paired = more <= self.0.grown.get() && self.0.held.get().saturating_add(more) <= most;
        self.0.over.set(self.0.over.get() || paired);
        paired
    }

    /// Whether so many more bytes are within the limit.
    fn is_within(&self, more: usize) -> bool {
        self.0.limit.get().is_none_or(|limit| self.0.held.get().saturating_add(more) <= limit)
    }

    /// Whether so many bytes are given past the limit; that they are not is noted.
    fn is_spared(&self, bytes: usize) -> bool {
        let most = self.0.limit.get().unwrap_or(usize::MAX).saturating_add(SPARE);
        let spared = bytes <= SMALL && self.0.held.get().saturating_add(bytes) <= most;
        self.0.refused.set(self.0.refused.get() || !spared);
        spared
    }

    fn holds(&self, held: usize) {
        self.0.held.set(held);
        self.0.peak.set(self.0.peak.get().max(held));
    }

    fn gained(&self, block: *mut u8) -> *mut u8 {
        self.holds(self.0.held.get().saturating_add(size(block)));
        block
    }
}

/// Rust's allocator, as far as the memory reaches.
pub(super) struct Counting(Memory);

/// What a block that this allocator gave has room for; nothing, where it gave none.
#[expect(unsafe_code, reason = "the size stands before the block")]
fn size(block: *mut u8) -> usize {
    if block.is_null() {
        return 0;
    }
    // SAFETY: every block in this file comes from `RustAllocator` and is there still.
    unsafe { RustAllocator::usable_size(block) }
}

#[expect(unsafe_code, reason = "the engine has no safe way to be given memory")]
// SAFETY: each call goes on to `RustAllocator`, which keeps the contract, with the caller's own arguments and blocks.
unsafe impl Allocator for Counting {
    fn alloc(&mut self, bytes: usize) -> *mut u8 {
        if !self.0.admits(bytes) {
            return std::ptr::null_mut();
        }
        self.0.gained(RustAllocator.alloc(bytes))
    }

    fn calloc(&mut self, count: usize, bytes: usize) -> *mut u8 {
        if !self.0.admits(count.saturating_mul(bytes)) {
            return std::ptr::null_mut();
        }
        self.0.gained(RustAllocator.calloc(count, bytes))
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        self.0.0.grown.set(0);
        self.0.holds(self.0.0.held.get().saturating_sub(size(block)));
        // SAFETY: the caller's block is one of this allocator.
        unsafe { RustAllocator.dealloc(block) }
    }

    unsafe fn realloc(&mut self, block: *mut u8, bytes: usize) -> *mut u8 {
        let before = size(block);
        if bytes > before && !self.0.admits_growth(bytes - before) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's block is one of this allocator.
        let moved = unsafe { RustAllocator.realloc(block, bytes) };
        if !moved.is_null() {
            self.0.holds(self.0.0.held.get().saturating_sub(before).saturating_add(size(moved)));
        }
        moved
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        size(block)
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};

    use super::*;

    #[test]
    fn the_peak_is_what_was_held_at_once_and_everything_is_given_back() {
        let memory = Memory::default();
        let mut allocator = memory.allocator();
        let (a, b) = (allocator.alloc(1_000), allocator.calloc(100, 10));
        assert_eq!(memory.peak(), 2_000);
        #[expect(unsafe_code, reason = "what is tested")]
        // SAFETY: both blocks are this allocator's, and each is given back once.
        unsafe {
            allocator.dealloc(a);
            let b = allocator.realloc(b, 1_600);
            assert_eq!((memory.peak(), memory.0.held.get()), (2_000, 1_600));
            allocator.dealloc(b);
        }
        assert_eq!((memory.peak(), memory.0.held.get()), (2_000, 0));
    }

    #[test]
    fn past_the_limit_there_are_small_blocks_and_growth_that_belongs_to_the_growth_before() {
        let memory = Memory::default();
        memory.bound(100 << 10);
        let held = |admitted: bool, bytes: usize| {
            memory.holds(memory.0.held.get() + if admitted { bytes } else { 0 });
            admitted
        };
        let asked = |bytes: usize| held(memory.admits(bytes), bytes);
        let grown = |bytes: usize| held(memory.admits_growth(bytes), bytes);
        assert!(asked(60 << 10));
        // A block of its own belongs to no other.
        assert!(!asked(60 << 10) && memory.was_refused());
        assert!(grown(30 << 10) && !memory.is_overrun());
        // By no more than the one before.
        assert!(!grown(31 << 10));
        assert!(grown(8 << 10) && !memory.is_overrun());
        assert!(grown(6 << 10) && grown(6 << 10));
        assert!(memory.is_overrun());
        assert!(memory.exhausted().message.contains("more than 102400 bytes"));
        // And directly behind it.
        assert!(!asked(20 << 10) && !grown(14 << 10));
        // Small ones, as long as the spare lasts.
        let small = (0..1_000).take_while(|_| asked(SMALL)).count();
        assert_eq!(small, (SPARE - (10 << 10)) / SMALL);
    }

    #[test]
    fn an_engine_s_large_text_is_in_its_peak() {
        let memory = Memory::default();
        let runtime = Runtime::new_with_alloc(memory.allocator()).unwrap();
        let context = Context::full(&runtime).unwrap();
        let empty = memory.peak();
        context.with(|ctx| ctx.eval::<(), _>("{ 'x'.repeat(10_000_000).length }")).unwrap();
        assert!((10_000_000..12_000_000).contains(&(memory.peak() - empty)), "{empty} {}", memory.peak());
    }
}
