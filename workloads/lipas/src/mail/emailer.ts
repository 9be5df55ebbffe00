// Hands mails to the SMTP server, over a few connections that stay open.
import { Unrecoverable } from 'millrace'
import { createTransport } from 'nodemailer'

export interface Mail {
  readonly messageId: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface Emailer {
  /** Throws Unrecoverable if the server refuses this recipient or this mail for good. */
  send(mail: Mail): Promise<void>
  close(): void
}

const TIMES = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 }
const CONNECTIONS = 4

export function openEmailer({ url, from }: { readonly url: string; readonly from: string }): Emailer {
  const transport = createTransport({
    ...{ url, pool: true, maxConnections: CONNECTIONS, ...TIMES },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
  return {
    async send({ messageId, to, subject, text }) {
      try {
        await transport.sendMail({ messageId, from, to: { name: '', address: to }, subject, text })
      } catch (error) {
        throw failureOf(error as SmtpError, { to, server: new URL(url) })
      }
    },
    close: () => transport.close(),
  }
}

type SmtpError = Error & { code?: string; command?: string; responseCode?: number; response?: string }

/** Logs and dead letters name the recipient's domain, not the address. */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** Errors are kept and shown: they name neither the recipient nor the server, which the settings name. */
function failureOf(error: SmtpError, { to, server }: { to: string; server: URL }): Error {
  const { responseCode = 0, response = error.message } = error
  const said = response
    .replaceAll(to, `…@${domainOf(to)}`)
    .replaceAll(server.host, 'its address')
    .replaceAll(server.hostname, 'its address')
  if (isRefusal(error))
    return new Unrecoverable(`The mail server refused a mail for ${domainOf(to)}: ${said}`, { cause: undefined })
  return new MailFailed(said, { code: error.code, status: responseCode })
}

/** 5xx at RCPT TO or after the data is about this recipient or mail. Elsewhere, as at the login, it is about us. */
function isRefusal({ code, command, responseCode = 0 }: SmtpError): boolean {
  if (responseCode < 500) return false
  return (code === 'EENVELOPE' && command === 'RCPT TO') || code === 'EMESSAGE'
}

/** The mail was not taken this time. */
class MailFailed extends Error {
  override readonly name = 'MailFailed'
  readonly code: string | undefined

  constructor(said: string, { code, status }: { code: string | undefined; status: number }) {
    super(status === 0 ? `The mail server cannot be used: ${said}` : `The mail server answered: ${said}`)
    this.code = code
  }
}
