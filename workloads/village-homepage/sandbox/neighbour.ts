// Neighbours who answer: each mail from a masked address gets a reply after some seconds, with the mail quoted. Once, if the sandbox
// misbehaves, mails of those who mean no good follow.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Mail, Mailboxes } from '@millrace/sandbox'
import { createTransport } from 'nodemailer'

export const NEIGHBOURS = 'neighbours.example'
/** Their mailbox is full: mail to them comes back. */
export const FULL = `walter@${NEIGHBOURS}`

const MASKED = /^m-\w+@/
const TRIES = 3

interface NeighbourOptions {
  readonly mailboxes: Mailboxes
  readonly smtpUrl: string
  readonly afterMs: number
  readonly misbehaves: boolean
}

/** Answers with how they are stopped. */
export function startNeighbours({ mailboxes, smtpUrl, afterMs, misbehaves }: NeighbourOptions): () => Promise<void> {
  const stopping = new AbortController()
  const transport = createTransport(smtpUrl)
  const running = new Set<Promise<void>>()
  let isQuiet = !misbehaves
  const send = async (mail: Parameters<typeof transport.sendMail>[0]): Promise<void> => {
    // The mail server refuses one of nine for now.
    for (let left = TRIES; left > 0; left--)
      if (
        await transport.sendMail(mail).then(
          () => true,
          () => false,
        )
      )
        return
  }
  const answer = async (mail: Mail): Promise<void> => {
    await sleep(afterMs, undefined, { signal: stopping.signal })
    if (mail.to === FULL) return send(bounceOf(mail))
    await send(replyTo(mail))
    if (isQuiet) return
    isQuiet = true
    await send(injectionTo(mail))
    await send(floodTo(mail))
  }
  const stopListening = mailboxes.onDelivered((mail) => {
    if (!mail.to.endsWith(`@${NEIGHBOURS}`) || !MASKED.test(mail.from)) return
    const running1 = answer(mail)
      .catch(() => {})
      .finally(() => running.delete(running1))
    running.add(running1)
  })
  return async () => {
    stopListening()
    stopping.abort()
    await Promise.all(running)
    transport.close()
  }
}

const replyTo = ({ to, from, subject, text, messageId }: Mail) => ({
  ...{ from: to, to: from, inReplyTo: messageId },
  subject: subject.startsWith('Re: ') ? subject : `Re: ${subject}`,
  text: `Yes, it is still here. Come by on Saturday!\n\nOn that day somebody wrote to ${to}:\n${text.replaceAll(/^/gm, '> ')}\n`,
})

/** RFC 3464: a mail server tells the sender that the mailbox is full. */
function bounceOf({ to, from, messageId }: Mail) {
  const raw = [
    ...[
      `From: MAILER-DAEMON@${NEIGHBOURS}`,
      `To: ${from}`,
      'Subject: Undelivered mail',
      'Auto-Submitted: auto-replied',
    ],
    ...['MIME-Version: 1.0', 'Content-Type: multipart/report; report-type=delivery-status; boundary="report"', ''],
    ...['--report', 'Content-Type: text/plain', '', 'The mailbox is full.'],
    ...['--report', 'Content-Type: message/delivery-status', '', `Reporting-MTA: dns; ${NEIGHBOURS}`, ''],
    ...[`Final-Recipient: rfc822; ${to}`, 'Action: failed', 'Status: 5.2.2'],
    ...['--report', 'Content-Type: text/rfc822-headers', '', `Message-ID: ${messageId}`, '--report--', ''],
  ]
  return { envelope: { from: '', to: from }, raw: raw.join('\r\n') }
}

/** A line break hidden in the subject: it wants to add a recipient. */
function injectionTo({ to, from }: Mail) {
  const subject = Buffer.from('Cheap boats\r\nBcc: everybody@example.com').toString('base64')
  const raw = `From: ${to}\r\nTo: ${from}\r\nSubject: =?utf-8?B?${subject}?=\r\n\r\nBuy now.\r\n`
  return { envelope: { from: to, to: from }, raw }
}

const TWO_MEGABYTES = 2 * 1024 * 1024

const floodTo = ({ to, from }: Mail) => ({
  ...{ from: to, to: from, subject: 'All my holiday pictures' },
  text: 'picture '.repeat(TWO_MEGABYTES / 8),
})
