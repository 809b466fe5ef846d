//! The memory that an engine holds, counted where it asks the system for it.
//!
//! The engine keeps small blocks in pages of its own, so that this is asked for pages and large blocks only.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::allocator::{Allocator, RustAllocator};

/// The most bytes that an engine held at a time, so far.
#[derive(Clone, Default)]
pub(super) struct Peak(Rc<Cell<usize>>);

impl Peak {
    pub(super) fn bytes(&self) -> u64 {
        self.0.get() as u64
    }

    /// What one engine is to allocate with.
    pub(super) fn counting(&self) -> Counting {
        Counting { held: 0, peak: self.clone() }
    }
}

/// Rust's allocator, and a count of what it gave.
pub(super) struct Counting {
    held: usize,
    peak: Peak,
}

impl Counting {
    fn holds(&mut self, held: usize) {
        self.held = held;
        if held > self.peak.0.get() {
            self.peak.0.set(held);
        }
    }

    fn gained(&mut self, block: *mut u8) -> *mut u8 {
        self.holds(self.held.saturating_add(size(block)));
        block
    }
}

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
        let block = RustAllocator.alloc(bytes);
        self.gained(block)
    }

    fn calloc(&mut self, count: usize, bytes: usize) -> *mut u8 {
        let block = RustAllocator.calloc(count, bytes);
        self.gained(block)
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        self.held = self.held.saturating_sub(size(block));
        // SAFETY: the caller's block is one of this allocator.
        unsafe { RustAllocator.dealloc(block) }
    }

    unsafe fn realloc(&mut self, block: *mut u8, bytes: usize) -> *mut u8 {
        let before = size(block);
        // SAFETY: the caller's block is one of this allocator.
        let moved = unsafe { RustAllocator.realloc(block, bytes) };
        if !moved.is_null() {
            self.holds(self.held.saturating_sub(before).saturating_add(size(moved)));
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
        let peak = Peak::default();
        let mut allocator = peak.counting();
        let (a, b) = (allocator.alloc(1_000), allocator.calloc(100, 10));
        assert_eq!(peak.bytes(), 2_000);
        #[expect(unsafe_code, reason = "what is tested")]
        // SAFETY: both blocks are this allocator's, and each is given back once.
        unsafe {
            allocator.dealloc(a);
            let b = allocator.realloc(b, 1_600);
            assert_eq!((peak.bytes(), allocator.held), (2_000, 1_600));
            allocator.dealloc(b);
        }
        assert_eq!((peak.bytes(), allocator.held), (2_000, 0));
    }

    #[test]
    fn an_engine_s_large_text_is_in_its_peak() {
        let peak = Peak::default();
        let runtime = Runtime::new_with_alloc(peak.counting()).unwrap();
        let context = Context::full(&runtime).unwrap();
        let empty = peak.bytes();
        context.with(|ctx| ctx.eval::<(), _>("{ 'x'.repeat(10_000_000).length }")).unwrap();
        assert!((10_000_000..12_000_000).contains(&(peak.bytes() - empty)), "{empty} {}", peak.bytes());
    }
}
