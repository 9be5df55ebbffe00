// The side of the child: what a contestant must be able to do, and the measurements that are the same for all of them.
// Peers import it from outside of this package, so it imports nothing but Node.
import { setTimeout as sleep } from 'node:timers/promises'

export interface Payload {
  readonly n: number
}

/** Connections and timers only exist between open and close: a contestant whose turn it is not does nothing at all. */
export interface Driver {
  /** Schema and queues. Safe to repeat. */
  install(): Promise<void>
  /** Leaves no job behind, waiting or finished. */
  reset(): Promise<void>
  openProducer(): Promise<Producer>
  openWorker(hooks: WorkerHooks): Promise<Worker>
  /** What differs from the library's defaults. */
  readonly settings: object
  readonly version: string
}

interface Producer {
  /** Durable when it resolves, as far as the store promises. */
  add(payload: Payload): Promise<unknown>
  addMany(payloads: Payload[]): Promise<unknown>
  close(): Promise<unknown>
}

interface WorkerHooks {
  /** To be called right before the first fetch: the clock starts. */
  readonly started: () => void
  /** To be called for each job by the handler. */
  readonly handle: (payload: Payload) => void
}

interface Worker {
  /** All jobs that were handled so far are written down as finished. */
  untilSettled(): Promise<void>
  close(): Promise<unknown>
}

export interface Target {
  readonly profile: 'best' | 'defaults'
  readonly databaseUrl: string
  readonly redisUrl: string
}

export const CONCURRENCY = 50
const BATCH = 1_000
const CALLERS = 16
/** Who is slow need not write all the jobs to be measured. */
const WRITING_MS = 1_500

export interface Request {
  readonly id: number
  readonly command: keyof ReturnType<typeof commandsOf>
  readonly jobs: number
}
export type Answer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string }
  | { readonly startedAt: number }

/** Monotonic, and the same for all processes of the machine. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6

/** Obeys the parent until it lets go. */
export function serve(makeDriver: (target: Target) => Driver): void {
  const commands = commandsOf(makeDriver(JSON.parse(process.argv[2] ?? '{}')))
  const answer = (message: Answer) => void process.send?.(message)
  process.on('message', async ({ id, command, jobs }: Request) => {
    try {
      answer({ id, result: await commands[command](jobs) })
    } catch (error) {
      answer({ id, error: (error as Error).stack ?? String(error) })
    }
  })
  // Whatever became of the parent, nobody waits for us any more.
  process.on('disconnect', () => process.exit())
  // Ctrl-C reaches the whole group; the parent drops the databases, and ends with everybody in it.
  process.on('SIGINT', () => {})
}

function commandsOf(driver: Driver) {
  let producer: Producer | undefined
  let worker: Worker | undefined
  return {
    describe: async () => ({ settings: driver.settings, version: driver.version, node: process.versions.node }),
    install: () => driver.install(),
    reset: () => driver.reset(),
    fill: (jobs: number) => fill(driver, jobs),
    drain: (jobs: number) => drain(driver, jobs),
    bulk: (jobs: number) => bulk(driver, jobs),
    single16: (jobs: number) => single16(driver, jobs),
    /** From now on the start of every job is reported. */
    listen: async () => {
      const handle = () => void process.send?.({ startedAt: now() } satisfies Answer)
      worker = await driver.openWorker({ started: () => {}, handle })
    },
    open: async () => {
      producer = await driver.openProducer()
    },
    /** Answers with the moment just before. */
    add: async (n: number) => {
      const askedAt = now()
      await producer?.add({ n })
      return askedAt
    },
    close: async () => {
      await producer?.close()
      await worker?.close()
      producer = undefined
      worker = undefined
    },
  }
}

async function fill(driver: Driver, jobs: number): Promise<void> {
  const producer = await driver.openProducer()
  for (let n = 0; n < jobs; n += BATCH) await producer.addMany(payloads(n, Math.min(BATCH, jobs - n)))
  await producer.close()
}

/** Jobs per second, from right before the first fetch until the last job is settled. */
async function drain(driver: Driver, jobs: number): Promise<number> {
  let startedAt = Number.NaN
  let handled = 0
  let allHandled = () => {}
  const last = new Promise<void>((resolve) => {
    allHandled = resolve
  })
  const worker = await driver.openWorker({
    started: () => {
      startedAt = now()
    },
    handle: () => {
      if (++handled === jobs) allHandled()
    },
  })
  await last
  await worker.untilSettled()
  const tookMs = now() - startedAt
  await worker.close()
  if (handled !== jobs) throw new Error(`${handled} handler calls for ${jobs} jobs`)
  return (jobs * 1_000) / tookMs
}

async function bulk(driver: Driver, jobs: number): Promise<number> {
  const producer = await driver.openProducer()
  await producer.addMany(payloads(0, 1))
  const startedAt = now()
  let written = 0
  while (written < jobs && now() - startedAt < WRITING_MS) {
    const count = Math.min(BATCH, jobs - written)
    await producer.addMany(payloads(written, count))
    written += count
  }
  const tookMs = now() - startedAt
  await producer.close()
  return (written * 1_000) / tookMs
}

async function single16(driver: Driver, jobs: number): Promise<number> {
  const producer = await driver.openProducer()
  // Every caller's connection is open before the clock starts.
  await Promise.all(payloads(0, CALLERS).map((payload) => producer.add(payload)))
  const startedAt = now()
  let next = 0
  const caller = async () => {
    while (next < jobs && now() - startedAt < WRITING_MS) await producer.add({ n: next++ })
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  const tookMs = now() - startedAt
  await producer.close()
  return (next * 1_000) / tookMs
}

export async function untilTrue(check: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await check())) await sleep(2)
}

const payloads = (from: number, count: number): Payload[] => Array.from({ length: count }, (_, i) => ({ n: from + i }))
