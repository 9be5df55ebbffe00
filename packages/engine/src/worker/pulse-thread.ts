// The pulse thread: heartbeats, LISTEN and the watchdog, on a connection and an event loop of their own.
//
// It runs beside every worker, so that a handler that blocks the main loop neither loses the lease nor leaves the
// LISTEN socket undrained (which would pin vacuum). It dies with the process; if it alone dies, the main thread takes
// that as the loss of the lease.
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { receivedConnection } from '../store/connection-config.ts'
import { AskedPassword } from './asked-password.ts'
import { Board } from './board.ts'
import { Heartbeat } from './heartbeat.ts'
import { Placements } from './placements.ts'
import { PulseConnection } from './pulse-connection.ts'
import type { FromPulse, PulseSettings, ToPulse } from './pulse-protocol.ts'
import { Watchdog } from './watchdog.ts'

const WATCH_MS = 100

class PulseThread {
  readonly #port: MessagePort
  readonly #password: AskedPassword
  readonly #placements: Placements
  readonly #connection: PulseConnection
  readonly #heartbeat: Heartbeat

  constructor(port: MessagePort, settings: PulseSettings) {
    this.#port = port
    const post = (message: FromPulse) => port.postMessage(message)
    this.#password = new AskedPassword(() => post({ kind: 'password' }))
    const connection = receivedConnection(settings.connection, () => this.#password.ask())
    const board = new Board(settings.board)
    this.#placements = new Placements(board.size)
    this.#connection = new PulseConnection(
      { ...settings, connection },
      {
        onMessages: (messages) => {
          post({ kind: 'heard', messages })
          const { workerId } = this.#heartbeat
          if (messages.some((each) => each.kind === 'reconcile' && each.workerId === workerId))
            void this.#heartbeat.beat()
        },
        onIgnored: (count, why) => post({ kind: 'ignored', count, why }),
        onListening: (isTrusted) => post({ kind: 'listening', isTrusted }),
      },
    )
    const shared = { board, placements: this.#placements, connection: this.#connection, post }
    this.#heartbeat = new Heartbeat({ ...shared, times: settings.times })
    const watchdog = new Watchdog({ ...shared, schema: settings.schema, hearAll: () => this.#receiveAll() })
    port.on('message', (message: ToPulse) => this.#receive(message))
    setInterval(() => watchdog.watch(), WATCH_MS)
  }

  #receive(message: ToPulse): void {
    switch (message.kind) {
      case 'register':
        this.#heartbeat.register(message.worker)
        break
      case 'report':
        this.#heartbeat.report(message.report)
        break
      case 'claimed':
        this.#placements.heard(message.jobs)
        break
      case 'password':
        this.#password.answer(message.password)
        break
      case 'no-password':
        this.#password.refuse(message.problem)
        break
      case 'stop':
        void this.#stop(message.reason)
        break
    }
  }

  /** What the port holds and the event loop has not brought yet. */
  #receiveAll(): void {
    for (let next = receiveMessageOnPort(this.#port); next !== undefined; next = receiveMessageOnPort(this.#port)) {
      this.#receive(next.message as ToPulse)
    }
  }

  async #stop(reason: string): Promise<void> {
    try {
      await this.#heartbeat.end(reason)
      await this.#connection.close()
    } catch {
      // The lease runs out by itself.
    }
    process.exit(0)
  }
}

if (parentPort !== null) new PulseThread(parentPort, workerData as PulseSettings)
