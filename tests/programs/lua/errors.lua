-- Error recovery and coroutines, which Lua does with setjmp and longjmp: the output must be that of the
-- native interpreter.
local function section(name) print(string.rep("-", 8) .. " " .. name) end

section("pcall and error")
print(pcall(error, "plain"))
print(pcall(error, {code = 7}) == false, select(2, pcall(error, {code = 7})).code)
print(pcall(error))
print(select(2, pcall(function() error("with a level", 1) end)):match("with a level"))
print(pcall(function() return 1, 2, 3 end))
print(pcall(pcall, error, "twice"))
print(select(2, pcall(function() local t = nil; return t.x end)):match("attempt to index a nil value"))
print(select(2, pcall(function() return 1 + {} end)):match("attempt to perform arithmetic on a table value"))
print(select(2, pcall(string.rep, "x", -1)) == "")
print(select(2, pcall(string.rep)):match("bad argument #1"))
print(load("return +"))

section("xpcall and traceback")
print(xpcall(function() error("x", 0) end, function(m) return "handled " .. m end))
print(xpcall(function(...) return select("#", ...) end, print, 1, nil, 3))
local depth = 0
local function deep() depth = depth + 1; return 1 + deep() end
local ok, message = pcall(deep)
print(ok, message:match("stack overflow"), depth > 1000)

section("nested")
local function nest(n)
  if n == 0 then error({depth = 0}) end
  local fine, e = pcall(nest, n - 1)
  if not fine then e.depth = e.depth + 1; error(e) end
end
print(select(2, pcall(nest, 100)).depth)
local count = 0
for i = 1, 20000 do
  local fine = pcall(function() if i % 3 == 0 then error(i) end end)
  if not fine then count = count + 1 end
end
print(count)

section("close and goto")
do
  local log = {}
  local fine, e = pcall(function()
    local a <close> = setmetatable({}, {__close = function(_, err) log[#log + 1] = "a " .. tostring(err) end})
    local b <close> = setmetatable({}, {__close = function(_, err) log[#log + 1] = "b " .. tostring(err); error("from b", 0) end})
    error("first", 0)
  end)
  print(fine, e, table.concat(log, ", "))
end

section("coroutines")
local co = coroutine.wrap(function(a)
  local b = coroutine.yield(a + 1)
  local fine, c = pcall(function() return coroutine.yield(b * 2) end)
  coroutine.yield(tostring(fine) .. tostring(c))
  error("done", 0)
end)
print(co(1), co(10), co("in pcall"), pcall(co))
print(pcall(co))
local function producer(n) return coroutine.create(function() for i = 1, n do coroutine.yield(i) end return "end" end) end
local sum, p = 0, producer(1000)
while true do
  local _, v = coroutine.resume(p)
  if v == "end" then break end
  sum = sum + v
end
print(sum, coroutine.status(p), coroutine.resume(p))
print(coroutine.close(coroutine.create(function() end)), coroutine.isyieldable(), coroutine.running() ~= nil)
local failing = coroutine.create(function() local x <close> = setmetatable({}, {__close = function() print("closed") end}); error({1}) end)
print(coroutine.resume(failing) == false, coroutine.status(failing))
local inner = coroutine.wrap(function() coroutine.wrap(function() error("inner", 0) end)() end)
print(select(2, pcall(inner)):match("inner"))
for word in coroutine.wrap(function() for w in ("a b c"):gmatch("%a") do coroutine.yield(w) end end) do io.write(word, ";") end
print()

section("metamethods and gc")
local t = setmetatable({}, {__index = function(_, k) if k == "bad" then error("no " .. k, 0) end return k end})
print(t.good, pcall(function() return t.bad end))
print(select(2, pcall(setmetatable({}, {__call = function(_, x) error(x, 0) end}), "called")))
print(pcall(table.sort, {3, 1, "x"}) == false)
print(pcall(next, {}, "missing") == false)
collectgarbage()
print(pcall(string.format, "%d", 1.5) == false)
