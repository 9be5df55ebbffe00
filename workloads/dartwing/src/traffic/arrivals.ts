// What small organizations ask for all day, so that the page of the sandbox has something to show.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger, Millrace, Queryable } from 'millrace'
import { sendFax } from '../contracts/critical.ts'
import { dispatchWebhook, sendEmail, updateDocuments } from '../contracts/default.ts'
import { emailInsert } from '../email/email-store.ts'
import { query } from '../query.ts'

const EVERY_MS = 900

type Arrival = (tx: Queryable, millrace: Millrace, organization: string) => Promise<unknown>

export const faxArrives: Arrival = async (tx, millrace, organization) => {
  const [row] = await query<{ id: string }>(
    tx,
    `insert into dartwing.fax (organization, document, to_number)
     select $1, id, '+1555' || lpad((floor(random() * 10000))::text, 7, '0')
     from dartwing.document
     order by id
     limit 1
     returning id::text`,
    [organization],
  )
  if (row !== undefined) await millrace.enqueue(sendFax, { organization, fax: row.id }, { tx })
}

const eventHappens: Arrival = async (tx, millrace, organization) => {
  const [row] = await query<{ delivery: string; endpoint: string }>(
    tx,
    `insert into dartwing.webhook_delivery (organization, endpoint, event, body)
     select $1, id, 'task.updated', '{"task":"TASK-1"}'
     from dartwing.webhook_endpoint
     where disabled_reason is null and sealed_secrets <> ''
     order by id
     limit 1
     returning id::text as delivery, endpoint::text`,
    [organization],
  )
  if (row !== undefined) await millrace.enqueue(dispatchWebhook, { organization, ...row }, { tx })
}

const mailIsWritten: Arrival = async (tx, millrace, organization) => {
  const email = await emailInsert(tx, organization, {
    to: 'ann@example.com',
    subject: 'A task is done',
    body: 'TASK-1 is done.',
  })
  await millrace.enqueue(sendEmail, { organization, email }, { tx })
}

const taskIsDone: Arrival = (tx, millrace, organization) =>
  millrace.enqueue(
    updateDocuments,
    { organization, doctype: 'Task', names: ['TASK-1', 'TASK-2'], change: { status: 'Done' } },
    { tx },
  )

const ARRIVALS: readonly Arrival[] = [faxArrives, eventHappens, taskIsDone, mailIsWritten]

/** One organization after the other asks for one thing after the other, until it is stopped. */
export function startArrivals(
  millrace: Millrace,
  organizations: readonly string[],
  logger: Logger,
): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const run = async () => {
    for (let n = 0; !stopping.signal.aborted; n++) {
      const organization = organizations[n % organizations.length] as string
      const arrival = ARRIVALS[Math.floor(n / organizations.length) % ARRIVALS.length] as Arrival
      await millrace
        .tenantDb(organization, (tx) => arrival(tx, millrace, organization))
        // A suspended organization gets nothing enqueued, and that is what suspending is for.
        .catch((error: Error) =>
          logger.debug({ error: error.message, organization }, 'nothing arrived for an organization'),
        )
      await sleep(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const done = run()
  return {
    async stop() {
      stopping.abort()
      await done
    },
  }
}
