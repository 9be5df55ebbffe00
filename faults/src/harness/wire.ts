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

/** What the client has asked, message by message: a prepared statement is sent once, and then only its name. */
export class Questions {
  readonly #prepared = new Map<string, string>()
  #isOpen = false

  /** The SQL of the request that this message begins, if it begins one. */
  begunBy({ type, raw }: WireMessage): string | undefined {
    if (type === 'S') this.#isOpen = false
    if (type === 'Q') return this.#executedBy(textAt(raw, 5))
    if ((type !== 'P' && type !== 'B') || this.#isOpen) return undefined
    this.#isOpen = true
    const first = textAt(raw, 5)
    const second = textAt(raw, raw.indexOf(0, 5) + 1)
    // Parse: the name and the statement. Bind: the portal and the statement's name.
    if (type === 'B') return this.#prepared.get(second)
    this.#prepared.set(first, second)
    return second
  }

  /** A prepared statement that is executed by SQL. */
  #executedBy(sql: string): string {
    const name = /; execute (\w+)\(/.exec(sql)?.[1]
    return (name === undefined ? undefined : this.#prepared.get(name)) ?? sql
  }
}

function textAt(raw: Buffer, from: number): string {
  return raw.toString('utf8', from, raw.indexOf(0, from))
}
