// The letter that reminds an owner of an entry that is a year old.
import type { Reminder } from '../registry/reminders.ts'

export interface Letter {
  readonly subject: string
  readonly text: string
}

/** `publicUrl` is where people reach the register; without it the letter has no link. */
export function reminderLetter({ name, lipasId, body }: Reminder, publicUrl: string | undefined): Letter {
  const place = name ?? 'your sports place'
  const note = typeof body.message === 'string' && body.message !== '' ? `\n\n${body.message}` : ''
  const link =
    publicUrl === undefined || lipasId === null
      ? ''
      : `\n\nLook at the entry: ${publicUrl.replace(/\/$/, '')}/lipas?site=${lipasId}`
  return {
    // A name may come from anybody: a line break in it would begin a header.
    subject: `Is the entry of ${oneLine(place)} still right?`.slice(0, 200),
    text: `Nobody has changed the entry of ${place} for a year. Please look whether it is still right, and save it.${note}${link}\n\nLIPAS, the register of sports places`,
  }
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
