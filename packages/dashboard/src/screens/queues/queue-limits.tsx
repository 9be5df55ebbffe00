// The limits that hold in a queue: how many run at once, how many start in a stretch of time.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { type Answer, ask, refresh } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { useLive } from '../../data/use-live.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { sentenceOf } from '../../ui/states.tsx'
import { counted, formatDuration, formatNumber } from '../../ui/text/format.ts'

type Limit = Answer<'limits', 'list'>['limits'][number]

export function QueueLimits({ queue }: { queue: string }) {
  const may = useMay()
  const [editing, setEditing] = useState<string | null>(null)
  const limits = useLive({ ...ask('limits', 'list', {}), enabled: may('limits.list') })
  const types = useQuery({ ...ask('catalogue', 'list', { kind: 'type' }), staleTime: 300_000 })
  const queues = useQuery({ ...ask('catalogue', 'list', { kind: 'queue' }), staleTime: 300_000 })
  const declared = queues.data?.entries.find(({ name }) => name === queue)
  const ofTypes = (types.data?.entries ?? []).filter(({ document }) => document.queue === queue)
  const names = new Set([
    ...[`queue:${queue}`, `queue:${queue}/tenant`],
    ...((declared?.document.limits as string[] | undefined) ?? []),
    ...ofTypes.flatMap(({ name, document }) => [
      ...(document.limits as string[]),
      `type:${name}`,
      `type:${name}/tenant`,
    ]),
  ])
  const shown = (limits.data?.limits ?? []).filter(({ name }) => names.has(name))
  return (
    <Card
      title="Limits"
      aside={
        may('limits.set') && (
          <Button size="sm" onClick={() => setEditing(`queue:${queue}`)}>
            Limit the queue…
          </Button>
        )
      }
      note={shown.length === 0 ? 'None: its jobs start as fast as slots are free.' : undefined}
    >
      <ul className="limits">
        {shown.map((limit) => (
          <li key={limit.name}>
            <LimitLine limit={limit} />
            {may('limits.set') && (
              <Button size="sm" aria-label={`Change the limit ${limit.name}`} onClick={() => setEditing(limit.name)}>
                Change…
              </Button>
            )}
          </li>
        ))}
      </ul>
      {editing !== null && (
        <LimitDialog
          name={editing}
          limit={shown.find(({ name }) => name === editing)}
          onClose={() => setEditing(null)}
        />
      )}
    </Card>
  )
}

function LimitLine({ limit: { name, isPerTenant, running, rate, uses, setBy } }: { limit: Limit }) {
  const used = uses.reduce((sum, use) => sum + use.running, 0)
  const full = uses.filter(({ free }) => free !== undefined && free <= 0).length
  const parts = [
    running === undefined ? null : `${counted(running, 'job')} at once, ${formatNumber(used)} now`,
    rate === undefined ? null : `${formatNumber(rate.jobs)} in ${formatDuration(rate.perMs)}`,
    isPerTenant ? `for each tenant${full > 0 ? `; ${counted(full, 'tenant')} at it` : ''}` : full > 0 ? 'full' : null,
    setBy === null ? null : `set by ${setBy}`,
  ]
  return (
    <span>
      <b className="mono">{name}</b>: {parts.filter(Boolean).join(', ')}
    </span>
  )
}

interface LimitDialogProps {
  name: string
  /** Undefined: there is none of that name yet. */
  limit: Limit | undefined
  onClose: () => void
}

const UNITS = ['second', 'minute', 'hour', 'day'] as const

function LimitDialog({ name, limit, onClose }: LimitDialogProps) {
  const [running, setRunning] = useState(limit?.running === undefined ? '' : String(limit.running))
  const [jobs, setJobs] = useState(limit?.rate === undefined ? '' : String(limit.rate.jobs))
  const [unit, setUnit] = useState<(typeof UNITS)[number]>('minute')
  const [problem, setProblem] = useState<string | null>(null)
  const save = async () => {
    const wanted = {
      ...(running !== '' && { running: Number(running) }),
      ...(jobs !== '' && { rate: `${jobs}/${unit}` }),
    }
    await done(() => api.limits.set({ name, ...wanted }), `${name} is set.`)
  }
  const unset = () => done(() => api.limits.unset({ name }), 'What the code says holds again.')
  const done = async (work: () => Promise<unknown>, says: string) => {
    try {
      await work()
      await refresh('limits', 'queues')
      onClose()
      toast({ says })
    } catch (error) {
      setProblem(sentenceOf(error))
    }
  }
  const isEmpty = running === '' && jobs === ''
  return (
    <Dialog
      title={`Limit ${name}`}
      isOpen
      onClose={onClose}
      end={
        <>
          {limit?.setBy != null && <Button onClick={unset}>Back to what the code says</Button>}
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" onClick={save} disabledBecause={isEmpty ? 'Give a number first.' : null}>
            Save
          </Button>
        </>
      }
    >
      <div className="form">
        <Field label="Running at once" hint="Empty: as the code says. 0 stops it." wrong={problem}>
          <input type="number" min={0} value={running} onChange={(event) => setRunning(event.target.value)} />
        </Field>
        <Field label="Started">
          <input type="number" min={0} value={jobs} onChange={(event) => setJobs(event.target.value)} />
        </Field>
        <Field label="in each">
          <select value={unit} onChange={(event) => setUnit(event.target.value as (typeof UNITS)[number])}>
            {UNITS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </Field>
      </div>
    </Dialog>
  )
}
