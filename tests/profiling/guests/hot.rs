// Names of Rust.
mod mill {
    pub struct Stone(pub u64);
    impl Stone {
        #[inline(never)]
        pub fn grind(&mut self, turns: u32) {
            for i in 0..turns {
                self.0 = self.0.wrapping_mul(6364136223846793005).rotate_left(5) ^ u64::from(i); // HOT
            }
        }
    }
}

fn main() {
    let rounds: u32 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(100);
    let mut stone = mill::Stone(1);
    for _ in 0..rounds {
        stone.grind(1_000_000);
    }
    println!("{}", stone.0);
}
