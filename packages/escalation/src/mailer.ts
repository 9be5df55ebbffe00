// SMTP, by nodemailer. One pool of connections for all mail channels of a process.
import { createTransport, type Transporter } from 'nodemailer'
import { SendFailed } from './channel.ts'

export interface MailOptions {
  /** smtp://user:password@host:587 or smtps://…. Default: SMTP_URL. */
  url?: string
  /** Default: MAIL_FROM, else millrace@ the host of the server. */
  from?: string
}

export interface Mail {
  /** Before the @ of its Message-ID. */
  readonly key: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Before the message was handed over, nothing can have arrived. */
const NEVER_SENT = new Set(['ECONNECTION', 'EDNS', 'ETLS', 'EAUTH', 'ENOAUTH', 'EOAUTH2', 'ECONNREFUSED', 'ENOTFOUND'])

export class Mailer {
  readonly #options: MailOptions
  #transport: Transporter | undefined

  constructor(options: MailOptions = {}) {
    this.#options = options
  }

  /** Throws SendFailed. */
  async send({ key, to, subject, text, html }: Mail): Promise<void> {
    const { url, from, domain } = this.#settings()
    this.#transport ??= createTransport(url, { disableFileAccess: true, disableUrlAccess: true })
    const messageId = `<${key.replaceAll(/[^\w.=-]/g, '-').slice(0, 200)}@${domain}>`
    const headers = { 'Auto-Submitted': 'auto-generated' }
    await this.#transport.sendMail({ from, to, subject, text, html, messageId, headers }).catch((error: unknown) => {
      throw failureOf(error)
    })
  }

  close(): void {
    this.#transport?.close()
    this.#transport = undefined
  }

  #settings(): { url: string; from: string; domain: string } {
    const url = this.#options.url ?? process.env.SMTP_URL
    if (!url)
      throw new SendFailed('refused', 'There is no mail server: set SMTP_URL, or give defineEscalation({ mail }).')
    const host = hostOf(url)
    const from = this.#options.from ?? process.env.MAIL_FROM ?? `millrace@${host}`
    const domain = /@([\w.-]+)/.exec(from)?.[1] ?? host
    return { url, from, domain }
  }
}

function hostOf(url: string): string {
  try {
    return new URL(url).hostname || 'localhost'
  } catch (cause) {
    throw new SendFailed('refused', 'SMTP_URL is no address: expected smtp://user:password@host:587.', { cause })
  }
}

function failureOf(error: unknown): SendFailed {
  const { code, responseCode, message } = error as { code?: string; responseCode?: number; message: string }
  const text = `The mail server did not take the mail: ${message}`
  const isForGood = responseCode !== undefined && responseCode >= 500 && code !== 'EAUTH'
  if (isForGood) return new SendFailed('refused', text, { cause: error })
  const isMissed = responseCode !== undefined || (code !== undefined && NEVER_SENT.has(code))
  return new SendFailed(isMissed ? 'missed' : 'unknown', text, { cause: error })
}
