// One connection through the proxy. Requests and replies are matched by counting: every Query and every Sync is
// answered by exactly one ReadyForQuery, in order.
import { connect, type Socket } from 'node:net'
import type { CutRule, Request } from './proxy.ts'
import { Framer, Questions, type WireMessage } from './wire.ts'

interface LinkServices {
  rule(): CutRule | undefined
  onAsked(sql: string): void
  onCut(sql: string): void
  onClosed(): void
}

interface Asked extends Request {
  rule: CutRule | undefined
  /** The reply so far, kept back while a rule may cut it. */
  held: Buffer[]
  rows: number
}

export class Link {
  readonly #client: Socket
  readonly #server: Socket
  readonly #services: LinkServices
  readonly #fromClient = new Framer('client')
  readonly #fromServer = new Framer('server')
  readonly #questions = new Questions()
  /** The first reply answers the start-up, which nobody asked in SQL. */
  readonly #asked: Asked[] = [{ sql: '', transaction: [], rule: undefined, held: [], rows: 0 }]
  #transaction: string[] | undefined
  #isSilent = false
  #isListener = false

  constructor(client: Socket, upstream: { host: string; port: number }, services: LinkServices) {
    this.#client = client
    this.#services = services
    this.#server = connect(upstream)
    // As the driver does it: otherwise small messages wait for an acknowledgement, 40 ms each.
    for (const socket of [client, this.#server]) socket.setNoDelay(true)
    this.#server.on('error', () => this.reset())
    client.on('error', () => this.reset())
    client.on('data', (chunk) => this.#ask(chunk))
    this.#server.on('data', (chunk) => this.#reply(chunk))
    client.on('close', () => this.#close())
    this.#server.on('close', () => this.#close())
  }

  /** It has asked for notifications. */
  get isListener(): boolean {
    return this.#isListener
  }

  silence(): void {
    this.#isSilent = true
  }

  reset(): void {
    this.#client.destroy()
    this.#server.destroy()
  }

  #close(): void {
    if (this.#isSilent) return
    this.#client.destroy()
    this.#server.destroy()
    this.#services.onClosed()
  }

  #ask(chunk: Buffer): void {
    if (this.#isSilent) return
    for (const message of this.#fromClient.messages(chunk)) {
      const asked = this.#note(message)
      const when = asked?.rule?.when
      if (when === 'before') this.#cut(asked?.sql ?? '')
      if (when === 'stall') this.silence()
      if (when === 'before' || when === 'stall') return
      this.#server.write(message.raw)
    }
  }

  /** The request that this message begins, if it begins one. */
  #note(message: WireMessage): Asked | undefined {
    const sql = this.#questions.begunBy(message)
    if (sql === undefined) return undefined
    this.#services.onAsked(sql)
    if (sql.startsWith('listen ')) this.#isListener = true
    const request = this.#inTransaction(sql)
    const rule = this.#services.rule()
    const asked = { ...request, rule: rule?.matches(request) ? rule : undefined, held: [], rows: 0 }
    this.#asked.push(asked)
    return asked
  }

  #inTransaction(sql: string): Request {
    const request = { sql, transaction: this.#transaction ?? [] }
    if (sql.startsWith('begin')) this.#transaction = []
    else if (sql === 'commit' || sql === 'rollback') this.#transaction = undefined
    else if (this.#transaction !== undefined) this.#transaction = [...this.#transaction, sql]
    return request
  }

  #reply(chunk: Buffer): void {
    if (this.#isSilent) return
    for (const { type, raw } of this.#fromServer.messages(chunk)) {
      const [asked] = this.#asked
      if (asked?.rule === undefined) this.#client.write(raw)
      else asked.held.push(raw)
      if (type === 'D' && asked !== undefined) asked.rows++
      if (type === 'Z' && this.#asked.shift()?.rule !== undefined && this.#isCut(asked as Asked)) return
    }
  }

  #isCut(asked: Asked): boolean {
    if (asked.rule?.isWanted?.({ rows: asked.rows }) === false) {
      this.#client.write(Buffer.concat(asked.held))
      return false
    }
    this.#cut(asked.sql)
    return true
  }

  #cut(sql: string): void {
    this.#services.onCut(sql)
    this.reset()
  }
}
