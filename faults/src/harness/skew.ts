/** By how much the clock of this process is wrong, as its settings say. */
export function skewMs(): number {
  const { skewMs = 0 } = JSON.parse(process.env.MILLRACE_FAULT_PROCESS ?? '{}') as { skewMs?: number }
  return skewMs
}
