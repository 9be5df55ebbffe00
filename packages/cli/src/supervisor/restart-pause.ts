// How long to wait before a process is started again.

export interface RestartTimes {
  /** After the first death. It doubles with every death that follows. */
  readonly firstMs: number
  readonly longestMs: number
  /** A process that has been ready for this long has proven itself: deaths are counted from the beginning again. */
  readonly provenMs: number
}

export const restartTimes: RestartTimes = { firstMs: 500, longestMs: 30_000, provenMs: 60_000 }

/** `deaths`: how many there were in a row, this one included. */
export function restartPauseMs(deaths: number, { firstMs, longestMs }: RestartTimes): number {
  return Math.min(longestMs, firstMs * 2 ** (deaths - 1))
}
