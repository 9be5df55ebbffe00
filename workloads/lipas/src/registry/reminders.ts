// Reminders of owners: one open per place, moved by every save, and sent when it is a year old.
import type { Queryable } from 'millrace'

export interface Reminder {
  readonly id: string
  readonly lipasId: number | null
  readonly email: string
  readonly status: 'pending' | 'queued' | 'sent' | 'done'
  readonly body: { readonly message?: unknown }
  /** Of the place; null: it belongs to none. */
  readonly name: string | null
}

export interface DueReminder {
  readonly id: string
  readonly email: string
}

/** The reminder, or undefined if there is none. */
export async function reminderOf(db: Queryable, id: string): Promise<Reminder | undefined> {
  const { rows } = await db.query(
    `select reminder.id, reminder.lipas_id as "lipasId", email, reminder.status, body, name
     from lipas.reminder
     left join lipas.sports_site using (lipas_id)
     where id = $1`,
    [id],
  )
  return rows[0] as Reminder | undefined
}

export const isOpen = ({ status }: Reminder): boolean => status === 'pending' || status === 'queued'

/** Takes a page of due reminders, the oldest first. Another process takes other ones. */
export async function takeDueReminders(tx: Queryable, now: Date, limit: number): Promise<DueReminder[]> {
  const { rows } = await tx.query(
    `with due as (
       select id
       from lipas.reminder
       where status = 'pending'
         and event_date <= $1
       order by event_date, id
       limit $2
       for update skip locked
     )
     update lipas.reminder
     set status = 'queued', queued_at = $1
     from due
     where reminder.id = due.id
     returning reminder.id, reminder.email`,
    [now, limit],
  )
  return rows as unknown as DueReminder[]
}

export async function markReminderSent(tx: Queryable, id: string): Promise<void> {
  await tx.query(
    `update lipas.reminder set status = 'sent', sent_at = now() where id = $1 and status in ('pending', 'queued')`,
    [id],
  )
}

/** After a save the owner need not be asked for a year. A place without owner, or closed for good, has no reminder. */
export async function moveReminder(
  tx: Queryable,
  { lipasId, email, at }: { readonly lipasId: number; readonly email: string | null; readonly at: Date },
): Promise<void> {
  const open = email === null ? `('pending', 'queued')` : `('queued')`
  await tx.query(`update lipas.reminder set status = 'done' where lipas_id = $1 and status in ${open}`, [lipasId])
  if (email === null) return
  await tx.query(
    `insert into lipas.reminder (lipas_id, email, event_date)
     values ($1, $2, $3::timestamptz + interval '1 year')
     on conflict (lipas_id) where status = 'pending'
     do update set email = excluded.email, event_date = excluded.event_date`,
    [lipasId, email, at],
  )
}

/** Forgets reminders that are over. */
export async function removeOldReminders(db: Queryable, daysOld: number): Promise<number> {
  const { rowCount } = (await db.query(
    `delete from lipas.reminder
     where status in ('sent', 'done')
       and greatest(event_date, coalesce(sent_at, event_date)) < now() - $1 * interval '1 day'`,
    [daysOld],
  )) as { rowCount?: number | null }
  return rowCount ?? 0
}
