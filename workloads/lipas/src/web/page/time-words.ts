// Times in words.

/** '0.3 s', '42 s', '3 min'. */
export function seconds(ms: number): string {
  if (ms < 9_950) return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`
  if (ms < 119_500) return `${Math.round(ms / 1_000)} s`
  return ms < 5_400_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`
}

/** '10:35:07' on the clock of that zone. */
export const clock = (at: Date, timeZone: string): string => at.toLocaleTimeString('en-GB', { timeZone })

/** '18 Nov 2026'. */
export const day = (at: Date, timeZone: string): string =>
  at.toLocaleDateString('en-GB', { timeZone, day: 'numeric', month: 'short', year: 'numeric' })
