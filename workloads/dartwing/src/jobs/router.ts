// Enqueue by the name of a method: the queue is looked up, the organization must be there, and the job is traceable by name.
import type { EnqueueResult, Millrace, Queryable } from 'millrace'
import { z } from 'zod'
import { sendNotification } from '../contracts/critical.ts'
import { demandActive } from '../organization/directory.ts'
import { getQueueForJob } from './queue-config.ts'

export interface Enqueueing {
  readonly method: string
  /** Left out: the method works for the installation. */
  readonly organization?: string | undefined
  /** Who asks for it. They are told when their organization is at its limit. */
  readonly user?: string | undefined
  /** A transaction: the job exists exactly if it commits. */
  readonly tx?: Queryable
  /** What else the method takes. */
  readonly arguments?: Readonly<Record<string, unknown>>
}

/** Throws UnknownJobType, InvalidPayload, OrganizationUnknown, OrganizationSuspended and TenantLimitReached. */
export async function enqueueWithIsolation(
  millrace: Millrace,
  { method, organization, user, tx, arguments: given = {} }: Enqueueing,
): Promise<EnqueueResult> {
  if (organization !== undefined) await demandActive(millrace, organization, tx)
  const payload = organization === undefined ? given : { ...given, organization }
  const result = await millrace.enqueueByType(method, payload, {
    correlationId: jobName(method, organization),
    ...(user !== undefined && { createdBy: user }),
    ...(tx !== undefined && { tx }),
  })
  const isOver = 'warnings' in result && result.warnings.some(({ code }) => code === 'tenant_limit')
  if (isOver && organization !== undefined && user !== undefined)
    await tellOfLimit(millrace, { organization, user, queue: getQueueForJob(method), ...(tx !== undefined && { tx }) })
  return result
}

/** At most once a minute for an organization and queue: in that minute it is one and the same notification. */
async function tellOfLimit(
  millrace: Millrace,
  { organization, user, queue, tx }: { organization: string; user: string; queue: string; tx?: Queryable },
): Promise<void> {
  if (!z.email().safeParse(user).success) return
  const minute = Math.floor(Date.now() / 60_000)
  const payload = { organization, template: 'job_limit' as const, about: `${queue}:${minute}`, to: user }
  await millrace.enqueue(sendNotification, payload, tx === undefined ? {} : { tx })
}

/** As `method:organization:seconds.micros`: people read it, and everything that follows from the job carries it. */
export function jobName(
  method: string,
  organization = 'system',
  now = performance.timeOrigin + performance.now(),
): string {
  return `${method}:${organization}:${(now / 1_000).toFixed(6)}`
}

/** How many jobs of the organization wait or run in the queue: what its limit counts. */
export async function getOrgJobCount(millrace: Millrace, organization: string, queue: string): Promise<number> {
  const found = (await millrace.tenantQueues(organization)).find((each) => each.queue === queue)
  return found === undefined ? 0 : found.waiting + found.running
}
