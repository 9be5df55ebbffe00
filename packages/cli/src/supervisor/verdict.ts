// Why a supervisor gives up, and with which exit code.

/** `millrace migrate` uses 3. */
export const EXIT_CRASH_LOOP = 4

/** A process said why it cannot start, and starting it again would not help. */
export class StartFailed extends Error {
  override readonly name = 'StartFailed'
}

export class CrashLoop extends Error {
  override readonly name = 'CrashLoop'

  constructor(process: number, deaths: number, last: string) {
    super(
      `Process ${process} died ${deaths} times in a row before it was ready (the last time: ${last}), and no other process is ready. Look at its lines in the log, or run the same command without --processes.`,
    )
  }
}
