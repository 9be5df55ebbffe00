import { contract } from '../../contract/operations.ts'
import { conflict } from '../problem.ts'
import { given, type Route, route } from '../route.ts'

const { health, alerts, escalations, reports } = contract
const PAGE = 50

export const healthRoutes: readonly Route[] = [
  route(health.read, (_, { millrace }) => millrace.health()),
  route(health.vitals, (_, { millrace }) => millrace.vitals()),

  route(alerts.list, async (_, { millrace }) => ({
    alerts: await millrace.alerts.list({ states: ['firing', 'pending', 'cleared'] }),
    silences: await millrace.alerts.silences(),
  })),
  route(alerts.rules, async (_, { millrace }) => ({
    rules: millrace.alerts
      .rules()
      .map(({ name, severity, summary, action, threshold, compare, forMs, escalate = null }) => ({
        ...{ name, severity, summary, action, threshold, compare, forMs, tells: escalate },
      })),
  })),
  route(alerts.silence, ({ name, subject, reason, for: time }, { millrace, by }) =>
    millrace.alerts.silence(name, { by, reason, for: time as `${number}m`, ...given({ subject }) }),
  ),
  route(alerts.unsilence, async ({ name, subject }, { millrace, by }) => ({
    changed: await millrace.alerts.unsilence(name, { by, ...given({ subject }) }),
  })),

  route(escalations.list, async ({ limit = PAGE, ...filter }, { millrace }) => {
    const page = await millrace.escalations.list({ ...given(filter), limit })
    const next = page.length === limit ? (page.at(-1)?.id ?? null) : null
    return { escalations: page, standing: await millrace.escalations.standing(), next }
  }),
  route(escalations.acknowledge, async ({ ids }, { millrace, by }) => ({
    results: await millrace.escalations.acknowledge(ids, { by }),
  })),
  route(escalations.resend, async ({ ids }, { millrace, by }) => ({
    ids: await millrace.escalations.resend(ids, { by }),
  })),

  route(escalations.test, async ({ channel }, { millrace, by }) => {
    const { deliverers } = await millrace.escalations.standing()
    const id = deliverers === 0 ? undefined : await millrace.escalations.test(channel, { by })
    if (id === undefined)
      throw conflict(
        'nobody_delivers',
        'No worker delivers on this database. Start one whose workload has an escalation, then test again.',
      )
    return { id }
  }),

  route(reports.runs, ({ since, ...selection }, { millrace }) =>
    millrace.reports.runs({ since: since as `${number}h`, ...given(selection) }),
  ),
  route(reports.series, ({ since, step, ...selection }, { millrace }) =>
    millrace.reports.series({ since: since as `${number}h`, step, ...given(selection) }),
  ),
  route(reports.queues, ({ since, step, queue }, { millrace }) =>
    millrace.reports.queues({ since: since as `${number}h`, step, ...given({ queue }) }),
  ),
  route(reports.deadLetters, ({ since, ...options }, { millrace }) =>
    millrace.reports.deadLetters(given({ ...options, since: since as `${number}h` | undefined })),
  ),
]
