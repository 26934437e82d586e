-- Amounts are decimal text: Lua's own numbers are doubles and lose units beyond 2^53.

-- Whether decimal a is greater than decimal b, both canonical (no leading zeros, `-` for negative).
local function greater(a, b)
  local a_negative, b_negative = a:byte(1) == 45, b:byte(1) == 45
  if a_negative ~= b_negative then return b_negative end
  if a_negative then a, b = b, a end
  if #a ~= #b then return #a > #b end
  return a > b
end
