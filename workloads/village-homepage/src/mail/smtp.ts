// Hands a mail to the SMTP server of the configuration.
import { createTransport } from 'nodemailer'
import type { RelayedMail } from './relayed-mail.ts'

/** The server will never take it for this recipient. Anything else is tried again. */
export interface Refused {
  readonly refused: string
}

const TIMES = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 }

export async function sendMail(url: string, mail: RelayedMail): Promise<undefined | Refused> {
  const { messageId, from, to, subject, text } = mail
  const transport = createTransport({ url, ...TIMES, disableFileAccess: true, disableUrlAccess: true })
  try {
    await transport.sendMail({ messageId, from, replyTo: from, to: { name: '', address: to }, subject, text })
    return undefined
  } catch (error) {
    const { code, command, responseCode, response } = error as Record<'code' | 'command' | 'response', string> & {
      responseCode?: number
    }
    if (code === 'EENVELOPE' && command === 'RCPT TO' && responseCode !== undefined && responseCode >= 500)
      return { refused: response }
    throw error
  } finally {
    transport.close()
  }
}
