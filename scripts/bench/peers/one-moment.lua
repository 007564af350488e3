-- For wrk: no connection sends before all are open; then every one sends a single request, all of all threads
-- at one moment, 1.5 s after the start.
local ffi = require("ffi")
ffi.cdef [[
struct bench_time { long seconds, nanoseconds; };
int clock_gettime(int clock, struct bench_time *time);
]]
local time = ffi.new("struct bench_time")
local monotonic = 1
local asked = 0

local function now()
   ffi.C.clock_gettime(monotonic, time)
   return tonumber(time.seconds) * 1000 + tonumber(time.nanoseconds) / 1e6
end

-- setup is asked once a thread, before any runs, in one state for all: the moment is the same for all.
function setup(thread)
   moment = moment or now() + 1500
   thread:set("moment", moment)
end

-- delay is asked by wrk before every request of every connection for the ms to wait.
function delay()
   asked = asked + 1
   if asked > share then return 60000 end
   return math.max(0, moment - now())
end

-- init is asked in each thread, with how many connections it has.
function init(args)
   share = tonumber(args[1])
end
