// The pulse thread: heartbeats, LISTEN and the watchdog, on a connection and an event loop of their own.
//
// It runs beside every worker, so that a handler that blocks the main loop neither loses the lease nor leaves the
// LISTEN socket undrained (which would pin vacuum). It dies with the process; if it alone dies, the main thread takes
// that as the loss of the lease.
import { randomUUID } from 'node:crypto'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import pg from 'pg'
import { monotonicMs } from '../clock.ts'
import { type Session, sessionOn } from '../store/db.ts'
import { jobRunning } from '../store/jobs.ts'
import { channelOf, decodeMessage, notify } from '../store/notifications.ts'
import { settle } from '../store/settlements.ts'
import { type NewWorker, workerBeat, workerEnd, workerRegister } from '../store/workers.ts'
import { Board } from './board.ts'
import { type FromPulse, type PulseSettings, type ToPulse, trustMarginMs } from './pulse-protocol.ts'

const WATCH_MS = 100
/** A loop that has not turned for this long is blocked: what it has not started is given back. */
const BLOCKED_MS = 1_000
const RECONNECT_MS = 2_000
const ECHO_MS = 2_000

class PulseThread {
  readonly #port: MessagePort
  readonly #settings: PulseSettings
  readonly #board: Board
  /** What lies on each slot of the board, as far as the main thread has told us. */
  readonly #placed = new Map<number, { id: string; runId: string; stuckAtMs: number }>()
  #worker: NewWorker | undefined
  #isRegistered = false
  #connection: { client: pg.Client; session: Session } | undefined
  #lastConnectMs = Number.NEGATIVE_INFINITY
  #beatTimer: NodeJS.Timeout | undefined
  #isBeating = false
  #beatAgain = false
  #onEcho: (token: string) => void = () => {}
  #isListenTrusted = false
  #isBlocked = false
  #isStopping = false

  constructor(port: MessagePort, settings: PulseSettings) {
    this.#port = port
    this.#settings = settings
    this.#board = new Board(settings.board)
    port.on('message', (message: ToPulse) => this.#receive(message))
    setInterval(() => this.#watch(), WATCH_MS)
  }

  #receive(message: ToPulse): void {
    switch (message.kind) {
      case 'register':
        this.#worker = message.worker
        this.#isRegistered = false
        void this.#beat()
        break
      case 'claimed':
        for (const job of message.jobs) {
          this.#placed.set(job.slot, { id: job.id, runId: message.runId, stuckAtMs: job.stuckAtMs })
        }
        break
      case 'stop':
        void this.#stop(message.reason)
        break
    }
  }

  /** Renews the lease and reads back what we run. One at a time; a request meanwhile makes it run once more. */
  async #beat(): Promise<void> {
    if (this.#isBeating) {
      this.#beatAgain = true
      return
    }
    clearTimeout(this.#beatTimer)
    this.#isBeating = true
    const { heartbeatMs, ttlMs } = this.#settings.times
    let delay = heartbeatMs
    try {
      await this.#renew(ttlMs)
    } catch (error) {
      this.#disconnect()
      delay = Math.min(heartbeatMs, RECONNECT_MS)
      this.#post({ kind: 'error', during: 'heartbeat', message: (error as Error).message })
    } finally {
      this.#isBeating = false
    }
    if (this.#isStopping) return
    if (this.#beatAgain) {
      this.#beatAgain = false
      delay = 0
    }
    clearTimeout(this.#beatTimer)
    this.#beatTimer = setTimeout(() => void this.#beat(), delay)
  }

  async #renew(ttlMs: number): Promise<void> {
    const worker = this.#worker
    if (worker === undefined || this.#isStopping) return
    const session = await this.#connected()
    const sentAtMs = monotonicMs()
    if (!this.#isRegistered) {
      await this.#within(workerRegister(session, null, worker))
      this.#isRegistered = true
      this.#board.trustUntil(sentAtMs + ttlMs - trustMarginMs(this.#settings.times))
      this.#post({ kind: 'registered', workerId: worker.id })
      return
    }
    const isAlive = await this.#within(workerBeat(session, null, worker.id, ttlMs))
    if (!isAlive) {
      this.#board.trustUntil(0)
      this.#worker = undefined
      this.#post({ kind: 'lost', workerId: worker.id })
      return
    }
    this.#board.trustUntil(sentAtMs + ttlMs - trustMarginMs(this.#settings.times))
    const rows = await this.#within(jobRunning(session, worker.id))
    this.#post({ kind: 'running', workerId: worker.id, rows, sentAtMs })
  }

  async #connected(): Promise<Session> {
    if (this.#connection !== undefined) return this.#connection.session
    const wait = this.#lastConnectMs + RECONNECT_MS - monotonicMs()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    this.#lastConnectMs = monotonicMs()
    const client = new pg.Client({ ...this.#settings.connection, keepAlive: true, connectionTimeoutMillis: 5_000 })
    client.on('error', () => this.#disconnect(client))
    client.on('notification', (notification) => this.#hear(notification.payload ?? ''))
    await client.connect()
    this.#connection = { client, session: sessionOn(client, this.#settings.schema) }
    this.#lastConnectMs = Number.NEGATIVE_INFINITY
    await this.#listen()
    return this.#connection?.session ?? sessionOn(client, this.#settings.schema)
  }

  /**
   * LISTEN is trusted only when a message came back that another connection sent: a pooler accepts the LISTEN, even
   * echoes what its own session says, and swallows the rest.
   */
  async #listen(): Promise<void> {
    if (this.#connection === undefined) return
    const { client } = this.#connection
    await this.#within(client.query(`listen ${pg.escapeIdentifier(channelOf(this.#settings.schema))}`))
    const sender = new pg.Client({ ...this.#settings.connection, connectionTimeoutMillis: 5_000 })
    sender.on('error', () => {})
    try {
      await sender.connect()
      const token = randomUUID()
      const heard = new Promise<boolean>((resolve) => {
        this.#onEcho = (echo) => echo === token && resolve(true)
        setTimeout(() => resolve(false), Math.min(ECHO_MS, this.#settings.times.ttlMs / 4))
      })
      const session = sessionOn(sender, this.#settings.schema)
      await this.#within(notify(session, this.#settings.schema, [{ kind: 'echo', token }]))
      this.#trustListen(await heard)
    } finally {
      this.#onEcho = () => {}
      sender.end().catch(() => {})
    }
  }

  #hear(payload: string): void {
    const message = decodeMessage(payload)
    if (message?.kind === 'work') this.#post({ kind: 'work', queue: message.queue })
    if (message?.kind === 'reconcile' && message.workerId === this.#worker?.id) void this.#beat()
    if (message?.kind === 'echo') this.#onEcho(message.token)
  }

  #trustListen(isTrusted: boolean): void {
    if (this.#isListenTrusted === isTrusted) return
    this.#isListenTrusted = isTrusted
    this.#post({ kind: 'listening', isTrusted })
  }

  #disconnect(client = this.#connection?.client): void {
    if (client === undefined || client !== this.#connection?.client) return
    this.#connection = undefined
    this.#trustListen(false)
    client.end().catch(() => {})
  }

  /** Every await has a deadline; missing it costs the connection, because beat and LISTEN must notice a dead one. */
  async #within<Result>(work: Promise<Result>): Promise<Result> {
    const deadlineMs = Math.min(5_000, this.#settings.times.ttlMs / 3)
    let timer: NodeJS.Timeout | undefined
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`Postgres did not answer within ${deadlineMs} ms`)), deadlineMs)
    })
    work.catch(() => {})
    try {
      return await Promise.race([work, deadline])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Watches the main loop from outside it. */
  #watch(): void {
    const lag = monotonicMs() - this.#board.lastBeat()
    if (lag < BLOCKED_MS) {
      if (this.#isBlocked) this.#isBlocked = false
      return
    }
    if (!this.#isBlocked) this.#post({ kind: 'blocked', ms: lag })
    this.#isBlocked = true
    // The port may hold claims we have not read: they must be known before their flags are judged.
    for (let next = receiveMessageOnPort(this.#port); next !== undefined; next = receiveMessageOnPort(this.#port)) {
      this.#receive(next.message as ToPulse)
    }
    this.#giveBackUnstarted()
    this.#killIfBeyondDeadlines()
  }

  #giveBackUnstarted(): void {
    const returned = [...this.#placed].filter(([slot]) => this.#board.takeBack(slot)).map(([, job]) => job)
    if (returned.length === 0) return
    const settlements = returned.map(({ id, runId }) => ({
      kind: 'requeue' as const,
      id,
      runId,
      delayMs: null,
      refund: true,
      crash: 'keep' as const,
      failure: null,
    }))
    // If this fails, reconciliation finds them once the loop turns again, and the rescuer if it never does.
    this.#connected()
      .then((session) => this.#within(settle(session, null, settlements)))
      .catch((error: Error) => this.#post({ kind: 'error', during: 'give back', message: error.message }))
  }

  /** A loop blocked beyond the deadline of everything it runs will never finish anything: only the process can end it. */
  #killIfBeyondDeadlines(): void {
    const now = monotonicMs()
    const started = [...this.#placed].filter(([slot]) => this.#board.isStarted(slot))
    if (started.length > 0 && started.every(([, job]) => job.stuckAtMs < now)) process.kill(process.pid, 'SIGKILL')
  }

  async #stop(reason: string): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#beatTimer)
    try {
      if (this.#worker !== undefined && this.#connection !== undefined) {
        await this.#within(workerEnd(this.#connection.session, null, this.#worker.id, reason))
      }
      await this.#connection?.client.end()
    } catch {
      // The lease runs out by itself.
    }
    this.#post({ kind: 'stopped' })
    process.exit(0)
  }

  #post(message: FromPulse): void {
    this.#port.postMessage(message)
  }
}

if (parentPort !== null) new PulseThread(parentPort, workerData as PulseSettings)
