// An SMTP server without encryption, on loopback only. It keeps what it is given and sends nothing on.
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { ReceivedCall } from '../received.ts'
import type { Switches } from '../switches.ts'
import type { Mailboxes } from './mailboxes.ts'

export interface SmtpOptions {
  readonly mailboxes: Mailboxes
  readonly received: { add(call: ReceivedCall<'smtp'>): void }
  readonly switches: Switches<'smtp'>
  /** Whether it refuses every ninth mail for now. */
  readonly misbehaves: boolean
}

export interface SmtpStandIn {
  readonly url: string
  stop(): Promise<void>
}

const MOST_BYTES = 10 * 1024 * 1024

/** It refuses recipients whose names begin with `nobody@` for good. */
export async function startSmtp({ mailboxes, received, switches, misbehaves }: SmtpOptions): Promise<SmtpStandIn> {
  let count = 0
  const refusal = (): { code: number; why: string } | undefined => {
    count += 1
    const { mode } = switches.get('smtp')
    if (mode === 'down') return { code: 421, why: 'Service not available, closing transmission channel' }
    if (mode === 'limited') return { code: 452, why: 'Too many messages, slow down' }
    return misbehaves && count % 9 === 0 ? { code: 451, why: 'Requested action aborted: local error' } : undefined
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    size: MOST_BYTES,
    onMailFrom({ address }, _session, callback) {
      const { mode, delayMs } = switches.get('smtp')
      const refused = refusal()
      const at = new Date().toISOString()
      received.add({ at, service: 'smtp', what: `MAIL FROM ${address}`, status: refused?.code ?? 250 })
      const answer = () => {
        if (refused === undefined) callback()
        else callback(Object.assign(new Error(refused.why), { responseCode: refused.code }))
      }
      if (mode === 'slow') setTimeout(answer, delayMs)
      else answer()
    },
    onRcptTo({ address }, _session, callback) {
      if (!address.startsWith('nobody@')) return callback()
      callback(Object.assign(new Error('No such mailbox here'), { responseCode: 550 }))
    },
    onData(stream, { envelope }, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        const to = envelope.rcptTo.map(({ address }) => address)
        mailboxes.deliver(Buffer.concat(chunks), { from, to }).then(() => {
          received.add({ at: new Date().toISOString(), service: 'smtp', what: `mail to ${to.join(', ')}`, status: 250 })
          callback()
        }, callback)
      })
    },
  })
  // A client that hangs up is its own affair.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
