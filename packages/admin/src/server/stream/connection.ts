// One open stream. What its client does not take is bounded: a client that cannot keep up gets snapshots when it can.
import type { Channel, Listener, Message } from './channel.ts'

const BEAT_MS = 5_000
const VALID_MS = 60_000
const MOST_WAITING = 64
const MOST_WAITING_BYTES = 1_000_000
/** How long a browser waits before it connects again. */
const RETRY_MS = 2_000

export interface ConnectionOptions {
  isStillValid(): Promise<boolean>
  onEnd(): void
}

export class Connection {
  readonly response: Response
  readonly #options: ConnectionOptions
  readonly #followed = new Map<string, { channel: Channel; listener: Listener }>()
  readonly #versions = new Map<string, string>()
  readonly #timers: NodeJS.Timeout[]
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #isBehind = false
  #isEnded = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
          controller.enqueue(bytesOf(`retry: ${RETRY_MS}\n\n`))
        },
        pull: () => this.#flush(),
        cancel: () => this.#over(),
      },
      { highWaterMark: 8 },
    )
    this.response = new Response(body, {
      headers: {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        // Proxies that buffer would hold events back.
        'x-accel-buffering': 'no',
      },
    })
    this.#timers = [
      setInterval(() => this.#beat(), BEAT_MS).unref(),
      setInterval(() => void this.#endIfInvalid(), VALID_MS).unref(),
    ]
  }

  follow(name: string, channel: Channel, since: string | undefined): void {
    if (since !== undefined) this.#versions.set(name, since)
    const listener: Listener = (message) => this.#hear(name, message)
    this.#followed.set(name, { channel, listener })
    channel.join(listener, since)
  }

  /** Says why, and closes. */
  end(reason: string): void {
    if (this.#isEnded) return
    this.#controller?.enqueue(bytesOf(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`))
    this.#controller?.close()
    this.#over()
  }

  #hear(name: string, message: Message): void {
    if (this.#isEnded || this.#isBehind) return
    this.#send(this.#text(name, message))
  }

  #text(name: string, { kind, version, value }: Message): string {
    if (version !== null) this.#versions.set(name, version)
    const id = [...this.#versions].map(([topic, seen]) => `${topic}=${seen}`).join(',')
    return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify({ topic: name, kind, value })}\n\n`
  }

  #send(text: string): void {
    const bytes = bytesOf(text)
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    this.#flush()
    if (this.#waiting.length <= MOST_WAITING && this.#waitingBytes <= MOST_WAITING_BYTES) return
    this.#isBehind = true
    this.#waiting = []
    this.#waitingBytes = 0
  }

  #flush(): void {
    const controller = this.#controller
    if (controller === undefined || this.#isEnded) return
    if (this.#isBehind && (controller.desiredSize ?? 0) > 0) this.#recover()
    while ((controller.desiredSize ?? 0) > 0) {
      const bytes = this.#waiting.shift()
      if (bytes === undefined) return
      this.#waitingBytes -= bytes.length
      controller.enqueue(bytes)
    }
  }

  /** What it has is a state of the past: it gets the present one. */
  #recover(): void {
    this.#isBehind = false
    for (const [name, { channel }] of this.#followed) {
      const snapshot = channel.snapshot()
      if (snapshot === undefined) continue
      const bytes = bytesOf(this.#text(name, snapshot))
      this.#waiting.push(bytes)
      this.#waitingBytes += bytes.length
    }
  }

  #beat(): void {
    if (this.#waiting.length === 0 && !this.#isBehind) this.#send('event: beat\ndata: {}\n\n')
  }

  async #endIfInvalid(): Promise<void> {
    // If nobody can be asked, the stream stays as it is: it shows nothing new then either.
    const isValid = await this.#options.isStillValid().catch(() => true)
    if (!isValid) this.end('the token or session is not valid any more')
  }

  #over(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    for (const timer of this.#timers) clearInterval(timer)
    for (const { channel, listener } of this.#followed.values()) channel.leave(listener)
    this.#options.onEnd()
  }
}

const encoder = new TextEncoder()
const bytesOf = (text: string): Uint8Array => encoder.encode(text)
