// What a mail server answers, and what that means for a job.
import { Unrecoverable } from 'millrace'

/** The mail server did not take the mail this time. */
export class MailServerUnwell extends Error {
  override readonly name = 'MailServerUnwell'
}

export type SmtpError = Error & { code?: string; command?: string; responseCode?: number; response?: string }

/** Logs and dead letters name the domain, not the address. */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** 5xx about the recipient or the mail is for good. 4xx and lost connections are not, nor is a refusal of us, as at the login. */
export function failureOf(error: SmtpError, to: string): Error {
  const { code, command, responseCode = 0, response = error.message } = error
  const said = response.replaceAll(to, `…@${domainOf(to)}`)
  const isAboutMail = (code === 'EENVELOPE' && command === 'RCPT TO') || code === 'EMESSAGE'
  if (responseCode >= 500 && isAboutMail)
    return new Unrecoverable(`The mail server refused a mail for ${domainOf(to)}: ${said}`)
  return new MailServerUnwell(`The mail server did not take a mail for ${domainOf(to)}: ${said}`)
}
