// How many jobs a tenant may have in a queue, and its slots in single queues.
import { type FormEvent, useState } from 'react'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { QueueName } from '../../ui/names.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { sentenceOf } from '../../ui/states.tsx'
import { formatNumber } from '../../ui/text/format.ts'
import type { Queues, Tenant } from './tenant-screen.tsx'

type Over = 'warn' | 'reject' | 'defer'
const WORDS = { warn: 'warns', reject: 'refuses', defer: 'lets wait' } as const

export function TenantLimits({ tenant, queues }: { tenant: Tenant; queues: Queues }) {
  const may = useMay()
  const [isOpen, setOpen] = useState(false)
  const waitingIn = (queue: string) => {
    const work = queues.find((each) => each.queue === queue)
    return (work?.waiting ?? 0) + (work?.running ?? 0)
  }
  const drop = async (work: () => Promise<unknown>) => {
    try {
      await work()
      await refresh('tenants', 'queues')
      toast({ says: 'What the queue says holds again.' })
    } catch (error) {
      toast({ says: `It was not taken away: ${sentenceOf(error)}`, tone: 'fail' })
    }
  }
  return (
    <Card
      title="Limits"
      aside={
        may('tenants.limit') && (
          <Button size="sm" onClick={() => setOpen(true)}>
            Set a limit of jobs…
          </Button>
        )
      }
    >
      {tenant.limits.length + tenant.slots.length === 0 && (
        <p className="note">None of its own: what the queues say holds.</p>
      )}
      <ul className="limits">
        {tenant.limits.map(({ queue, jobs, over }) => (
          <li key={queue}>
            <span>
              <QueueName name={queue} />: {WORDS[over]} beyond {formatNumber(jobs)} jobs, now{' '}
              {formatNumber(waitingIn(queue))}
            </span>
            {may('tenants.unlimit') && (
              <Button
                size="sm"
                aria-label={`Remove the limit in ${queue}`}
                onClick={() => drop(() => api.tenants.unlimit({ tenant: tenant.name, queue }))}
              >
                Remove
              </Button>
            )}
          </li>
        ))}
        {tenant.slots.map(({ queue, minSlots, maxSlots }) => (
          <li key={`slots ${queue}`}>
            <span>
              <QueueName name={queue} />: {minSlots > 0 && `at least ${minSlots}, `}
              {maxSlots === null ? 'as many slots as are free' : `at most ${maxSlots} slots`}
            </span>
            {may('tenants.unsetSlots') && (
              <Button
                size="sm"
                aria-label={`Remove the slots in ${queue}`}
                onClick={() => drop(() => api.tenants.unsetSlots({ tenant: tenant.name, queue }))}
              >
                Remove
              </Button>
            )}
          </li>
        ))}
      </ul>
      <LimitDialog isOpen={isOpen} onClose={() => setOpen(false)} tenant={tenant.name} queues={queues} />
    </Card>
  )
}

interface LimitProps {
  isOpen: boolean
  onClose: () => void
  tenant: string
  queues: Queues
}

function LimitDialog({ isOpen, onClose, tenant, queues }: LimitProps) {
  const [queue, setQueue] = useState('')
  const [jobs, setJobs] = useState('1000')
  const [over, setOver] = useState<Over>('warn')
  const [problem, setProblem] = useState<string | null>(null)
  const name = queue || queues[0]?.queue || ''
  const save = async () => {
    try {
      await api.tenants.limit({ tenant, queue: name, jobs: Number(jobs), over })
      await refresh('tenants', 'queues')
      onClose()
      toast({ says: `${tenant} may have ${jobs} jobs in ${name}.` })
    } catch (error) {
      setProblem(sentenceOf(error))
    }
  }
  const missing = name === '' ? 'Name a queue first.' : /^\d{1,9}$/.test(jobs) ? null : 'Give a whole number of jobs.'
  return (
    <Dialog
      title={`How many jobs ${tenant} may have`}
      isOpen={isOpen}
      onClose={onClose}
      end={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" onClick={save} disabledBecause={missing}>
            Save
          </Button>
        </>
      }
    >
      <form
        className="form"
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          if (missing === null) void save()
        }}
      >
        <Field label="Queue" wrong={problem}>
          <input type="text" value={name} onChange={(event) => setQueue(event.target.value)} />
        </Field>
        <Field label="Jobs, waiting and running">
          <input type="number" min={0} value={jobs} onChange={(event) => setJobs(event.target.value)} />
        </Field>
        <Field label="More than that">
          <select value={over} onChange={(event) => setOver(event.target.value as Over)}>
            <option value="warn">are queued, with a warning</option>
            <option value="reject">are refused</option>
            <option value="defer">wait until it has fewer</option>
          </select>
        </Field>
      </form>
    </Dialog>
  )
}
