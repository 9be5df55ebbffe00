// What would help, each with its effect and what the estimate would be then.
import { useQuery } from '@tanstack/react-query'
import { api } from '../../data/client.ts'
import { type Answer, ask, refresh } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { sentenceOf } from '../../ui/states.tsx'
import { formatDuration, formatNumber, listed } from '../../ui/text/format.ts'
import { quoted } from '../jobs/query-text.ts'
import type { JobDetails } from './actions.tsx'
import { type Explanation, turnMs } from './estimate.ts'
import { prioritise } from './priority-dialog.tsx'

interface Remedy {
  readonly key: string
  readonly label: string
  readonly effect: string
  /** Milliseconds until it would start; null: unknown. */
  readonly ms: number | null
  run(): Promise<unknown>
}

export function Remedies({ job, why }: { job: JobDetails; why: Explanation }) {
  const remedies = useRemedies(job, why)
  if (remedies.length === 0) return null
  return (
    <>
      <h3 className="dim">What helps</h3>
      <ul className="ways">
        {remedies.map(({ key, label, effect, ms, run }, index) => (
          <li key={key}>
            <Button variant={index === 0 ? 'primary' : 'plain'} onClick={() => tried(run)}>
              {label}
            </Button>
            <span className="eta">{ms === null ? '' : ms < 1_000 ? 'starts now' : `about ${formatDuration(ms)}`}</span>
            <p className="eff">{effect}</p>
          </li>
        ))}
      </ul>
    </>
  )
}

async function tried(run: () => Promise<unknown>): Promise<void> {
  try {
    await run()
  } catch (error) {
    toast({ says: sentenceOf(error), tone: 'fail' })
  }
  await refresh('jobs', 'pauses', 'queues', 'tenants', 'breakers')
}

function useRemedies(job: JobDetails, why: Explanation): Remedy[] {
  const may = useMay()
  const held = new Set(why.reasons.map(({ mechanism }) => mechanism))
  const pauses = useQuery({ ...ask('pauses', 'list', {}), enabled: held.has('pause') }).data?.pauses ?? []
  const first = useFirstByPriority(job, why)
  const turn = why.ahead === null ? null : turnMs(why.ahead, why.ahead.own)
  // Another reason would hold it still.
  const onlyBy = (mechanism: string) => (held.size === 1 && held.has(mechanism) ? turn : null)
  const remedies: Remedy[] = []
  for (const reason of why.reasons) {
    const service = /^millrace breakers reset (\S+)$/.exec(reason.remedy ?? '')?.[1]
    if (reason.mechanism === 'breaker' && service !== undefined && may('breakers.reset'))
      remedies.push({
        key: `breaker ${service}`,
        label: `Close the breaker of ${service}`,
        effect: 'Calls go out again at once. If the service still fails, it opens again.',
        ms: onlyBy('breaker'),
        run: () => api.breakers.reset({ service }),
      })
  }
  if (held.has('pause') && may('pauses.end'))
    for (const pause of pauses.filter((each) => concerns(each, job))) remedies.push(resumed(pause, onlyBy('pause')))
  if (held.has('tenant') && job.tenant !== null && may('tenants.resume')) {
    const { tenant } = job
    remedies.push({
      key: 'tenant',
      label: `Let ${tenant} run again`,
      effect: `All waiting jobs of ${tenant} may start.`,
      ms: onlyBy('tenant'),
      run: () => api.tenants.resume({ tenant }),
    })
  }
  if (held.has('share') && job.tenant !== null && may('tenants.set'))
    remedies.push(moreSlots(job.tenant, why, onlyBy('share')))
  if (held.has('due') && may('jobs.retry'))
    remedies.push({
      key: 'due',
      label: 'Make it due now',
      effect: job.lastErrorAt === null ? 'It starts before its time.' : 'It is tried again without waiting any longer.',
      ms: onlyBy('due'),
      run: () => api.jobs.retry({ id: job.id }),
    })
  if (first !== null && may('jobs.prioritise')) remedies.push(first)
  return remedies
}

type Pause = Answer<'pauses', 'list'>['pauses'][number]

const concerns = ({ queue, type, tenant }: Pause, job: JobDetails): boolean =>
  (queue === null || queue === job.queue) &&
  (type === null || type === job.type) &&
  (tenant === null || tenant === job.tenant)

function resumed({ queue, type, tenant, by, reason }: Pause, ms: number | null): Remedy {
  const target = Object.fromEntries(Object.entries({ queue, type, tenant }).filter(([, value]) => value !== null))
  const name = listed(Object.entries(target).map(([kind, value]) => `${kind} ${value}`))
  return {
    key: `pause ${name} ${by}`,
    label: `Resume ${name}`,
    effect: `Everything of ${name} may start again. ${by} paused it: ${reason}`,
    ms,
    run: () => api.pauses.end({ ...target, all: true }),
  }
}

function moreSlots(tenant: string, why: Explanation, ms: number | null): Remedy {
  const sentence = why.reasons.find(({ mechanism }) => mechanism === 'share')?.sentence ?? ''
  const most = Number(/of the (\d+) slots/.exec(sentence)?.[1] ?? 0)
  const next = Math.max(most + 1, Math.min(most * 2, most + 1 + (why.ahead?.own ?? 0)))
  return {
    key: 'share',
    label: `Let ${tenant} hold ${next} slots`,
    effect: 'Its next jobs start as slots are free. It holds in every queue, and can be changed back.',
    ms,
    run: async () => {
      const { maxSlots: before } = await api.tenants.get({ tenant })
      await api.tenants.set({ tenant, maxSlots: next })
      toast({
        says: `${tenant} may hold ${next} slots now.`,
        onUndo: async () => {
          await api.tenants.set({ tenant, maxSlots: before })
          await refresh('jobs', 'tenants')
        },
      })
    },
  }
}

/** To the front of its tenant's jobs: what that would bring is counted, not guessed. */
function useFirstByPriority(job: JobDetails, why: Explanation): Remedy | null {
  const isUseful = job.priority > 0 && (why.ahead?.own ?? 0) > 0 && job.status === 'pending'
  const q = `status:pending queue:${quoted(job.queue)} ${job.tenant === null ? '-tenant:*' : `tenant:${quoted(job.tenant)}`} priority:0 due:<now`
  const { data } = useQuery({ ...ask('jobs', 'count', { q }), enabled: isUseful, retry: false, staleTime: 5_000 })
  if (!isUseful || why.ahead === null || data === undefined || data.count >= why.ahead.own) return null
  const passed = why.ahead.own - data.count
  return {
    key: 'prioritise',
    label: 'Prioritise to 0',
    effect: `It passes ${passed === why.ahead.own ? 'all' : formatNumber(passed)} of the ${formatNumber(why.ahead.own)} ahead of it.`,
    ms: why.reasons.length === 0 ? turnMs(why.ahead, data.count) : null,
    run: () => prioritise(job.id, 0),
  }
}
