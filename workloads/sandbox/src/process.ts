// A sandbox as a process of its own: `node dist/sandbox/main.js [port]`. It prints its addresses as one line of JSON.

export interface StartOptions {
  readonly port: number
  /** Whether services fail now and then by themselves: `SANDBOX_MISBEHAVES=false` says no. */
  readonly misbehaves: boolean
}

export interface RunningSandbox {
  /** What other programs must know, on one line of JSON. */
  readonly addresses: Readonly<Record<string, unknown>>
  stop(): Promise<void>
}

/** Starts it, and stops it at SIGINT and SIGTERM. */
export async function runAsProcess(start: (options: StartOptions) => Promise<RunningSandbox>): Promise<void> {
  const port = Number(process.argv[2] ?? 0)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    console.error(`The port is ${JSON.stringify(process.argv[2])}: expected a number from 0 to 65535.`)
    process.exit(2)
  }
  const sandbox = await start({ port, misbehaves: process.env.SANDBOX_MISBEHAVES !== 'false' })
  console.log(JSON.stringify(sandbox.addresses))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      sandbox.stop().then(() => process.exit(0))
    })
  }
}
