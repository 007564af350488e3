-- For wrk: no connection sends before all are open; then every one sends a single request, all at
-- one moment, a second after the thread's first connection was there.
local ffi = require("ffi")
ffi.cdef [[
struct bench_time { long seconds, nanoseconds; };
int clock_gettime(int clock, struct bench_time *time);
]]
local time = ffi.new("struct bench_time")
local monotonic = 1
local begin, asked = nil, 0

-- delay is asked by wrk before every request of every connection for the ms to wait.
function delay()
   ffi.C.clock_gettime(monotonic, time)
   local now = tonumber(time.seconds) * 1000 + tonumber(time.nanoseconds) / 1e6
   begin = begin or now
   asked = asked + 1
   if asked > share then return 60000 end
   return math.max(0, begin + 1000 - now)
end

function init(args)
   share = tonumber(args[1])
end
