// As much of Postgres's wire protocol as the proxy needs: where messages begin and end, and what was asked.

export interface WireMessage {
  /** The type byte as a letter; '' for the first message of a client, which has none. */
  type: string
  raw: Buffer
}

/** Cuts a byte stream into messages. A client's stream begins with one message without a type. */
export class Framer {
  #pending: Buffer = Buffer.alloc(0)
  #isUntyped: boolean

  constructor(side: 'client' | 'server') {
    this.#isUntyped = side === 'client'
  }

  *messages(chunk: Buffer): Generator<WireMessage> {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    for (;;) {
      const header = this.#isUntyped ? 0 : 1
      if (this.#pending.length < header + 4) return
      const end = header + this.#pending.readInt32BE(header)
      if (this.#pending.length < end) return
      const raw = this.#pending.subarray(0, end)
      this.#pending = this.#pending.subarray(end)
      yield { type: header === 0 ? '' : String.fromCharCode(raw[0] as number), raw }
      this.#isUntyped = false
    }
  }
}

/** The SQL of a Query or Parse message. */
export function sqlOf({ type, raw }: WireMessage): string {
  const from = type === 'P' ? raw.indexOf(0, 5) + 1 : 5
  return raw.toString('utf8', from, raw.indexOf(0, from))
}
