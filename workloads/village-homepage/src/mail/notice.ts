// Notices: mails of the village itself to a neighbour. Stored together with the job that sends them.
import type { Queryable } from 'millrace'

const ADD = `
insert into village.messages (recipient_id, direction, kind, subject, body)
select recipient_id, 'notice', kind, subject, body
from jsonb_to_recordset($1::jsonb) as notice (recipient_id uuid, kind text, subject text, body text)
returning id`

export interface Notice {
  readonly recipientId: string
  readonly kind: string
  readonly subject: string
  readonly body: string
}

/** Answers with the ids of the messages, for MESSAGE_RELAY. */
export async function addNotices(tx: Queryable, notices: readonly Notice[]): Promise<string[]> {
  const rows = notices.map(({ recipientId, ...notice }) => ({ recipient_id: recipientId, ...notice }))
  return ((await tx.query(ADD, [JSON.stringify(rows)])).rows as { id: string }[]).map(({ id }) => id)
}

/** A title of a neighbour's own, fit for the subject of a mail. */
export const inSubject = (title: string): string =>
  title
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 200)
