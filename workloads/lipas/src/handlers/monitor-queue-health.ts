// `monitor-queue-health`: reads the platform's verdict, and mails the operators once for each alert that has begun or cleared.
//
// It has no thresholds of its own. A mail cannot report that mail is down: such alerts go to the log only.
import { type Alert, type Implementation, implement, type JobContext, type Queryable } from 'millrace'
import { email, monitorQueueHealth, services } from '../contracts.ts'
import type { LipasSystem } from '../system.ts'

export const monitorQueueHealthHandler = (system: LipasSystem): Implementation =>
  implement(monitorQueueHealth, async (_payload, ctx) => {
    const { millrace } = system
    const { verdict: status } = await millrace.health()
    const alerts = await millrace.alerts.list({ states: ['firing', 'cleared'] })
    const news = alerts.filter(({ firedAt, silence }) => firedAt !== null && silence === null)
    const firing = news.filter(({ state }) => state === 'firing').map(({ name, subject }) => `${name}: ${subject}`)
    return ctx.transaction(async (tx) => {
      let notified = 0
      for (const alert of news) if (await tell(system, alert, { ctx, tx })) notified += 1
      return { status, firing, notified }
    })
  })

/** True if this run was the first to tell of it. */
async function tell(
  { addresses }: LipasSystem,
  alert: Alert,
  { ctx, tx }: { ctx: JobContext; tx: Queryable },
): Promise<boolean> {
  const { name, subject, since, state } = alert
  const what = state === 'firing' ? 'begun' : 'cleared'
  let isFirst = false
  await ctx.once(`alert:${name}:${subject}:${since.toISOString()}:${what}`, async () => {
    isFirst = true
    ctx.log[what === 'begun' ? 'warn' : 'info']({ alert: name, subject, why: alert.why }, `an alert has ${what}`)
    if (subject !== services.email.name) await ctx.enqueue(email, noticeOf(alert, addresses.mail.alertTo), { tx })
    return null
  })
  return isFirst && subject !== services.email.name
}

function noticeOf({ name, subject, state, why, action, since }: Alert, to: string) {
  const isFiring = state === 'firing'
  const title = isFiring ? `Alert: ${name} (${subject})` : `Over: ${name} (${subject})`
  const text = isFiring
    ? `${why}\n\nSince ${since.toISOString()}.\nDo: ${action}`
    : `The alert ${name} of ${subject}, which began at ${since.toISOString()}, is over.`
  return { to, subject: title.replaceAll(/\s+/g, ' ').slice(0, 200), body: text }
}
