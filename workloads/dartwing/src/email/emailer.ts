// Hands mails to the SMTP server, one connection each: an aborted job closes its own.
import { createTransport } from 'nodemailer'
import type { Addresses } from '../outside/addresses.ts'
import { failureOf, type SmtpError } from './answers.ts'

export interface Mail {
  /** The same in every attempt: a server that got the mail before shows one. */
  readonly messageId: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

const TIMES = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 }

export interface Emailer {
  /** Of the sender's address. */
  readonly domain: string
  /** Throws Unrecoverable if the server refuses this recipient or this mail for good. */
  send(mail: Mail, signal: AbortSignal): Promise<void>
}

export function openEmailer({ url, from }: Addresses['mail']): Emailer {
  return {
    domain: from.slice(from.lastIndexOf('@') + 1),
    async send({ messageId, to, subject, text }, signal) {
      signal.throwIfAborted()
      const transport = createTransport({ url, ...TIMES, disableFileAccess: true, disableUrlAccess: true })
      const close = () => transport.close()
      signal.addEventListener('abort', close)
      try {
        await transport.sendMail({ messageId, from, to: { name: '', address: to }, subject, text })
      } catch (error) {
        signal.throwIfAborted()
        throw failureOf(error as SmtpError, to)
      } finally {
        signal.removeEventListener('abort', close)
        close()
      }
    },
  }
}
