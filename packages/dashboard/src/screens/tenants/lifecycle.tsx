// Suspend and resume.
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { sentenceOf } from '../../ui/states.tsx'
import { counted } from '../../ui/text/format.ts'
import type { Queues, Tenant } from './tenant-screen.tsx'

export function Lifecycle({ tenant, queues }: { tenant: Tenant; queues: Queues }) {
  const may = useMay()
  const [isAsking, setAsking] = useState(false)
  if (!may('tenants.suspend') || tenant.status === 'deleted') return null
  const sum = (read: (queue: Queues[number]) => number) => queues.reduce((all, each) => all + read(each), 0)
  const [waiting, running] = [sum((each) => each.waiting), sum((each) => each.running)]
  const resume = async () => {
    try {
      await api.tenants.resume({ tenant: tenant.name })
      await refresh('tenants', 'queues')
      toast({ says: `${tenant.name} runs again.` })
    } catch (error) {
      toast({ says: `It was not resumed: ${sentenceOf(error)}`, tone: 'fail' })
    }
  }
  if (tenant.status === 'suspended') {
    return (
      <Card title="Resume" note={`Lets its ${counted(waiting, 'waiting job')} run, and takes new ones again.`}>
        <Button variant="primary" onClick={resume}>
          Resume {tenant.name}
        </Button>
      </Card>
    )
  }
  const effect = `Holds its ${counted(waiting, 'waiting job')}, aborts the ${running} that run without using up an attempt, and refuses new ones until it is resumed.`
  return (
    <Card title="Suspend" note={effect}>
      <Button variant="danger" onClick={() => setAsking(true)}>
        Suspend {tenant.name}…
      </Button>
      <SuspendDialog isOpen={isAsking} onClose={() => setAsking(false)} name={tenant.name} effect={effect} />
    </Card>
  )
}

interface SuspendProps {
  isOpen: boolean
  onClose: () => void
  name: string
  effect: string
}

function SuspendDialog(props: SuspendProps) {
  const { isOpen, onClose, name, effect } = props
  const [reason, setReason] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const suspend = async () => {
    try {
      await api.tenants.suspend({ tenant: name, reason })
      await refresh('tenants', 'queues')
      onClose()
      const onUndo = async () => {
        await api.tenants.resume({ tenant: name })
        await refresh('tenants', 'queues')
      }
      toast({ says: `${name} is suspended.`, onUndo })
    } catch (error) {
      setProblem(sentenceOf(error))
    }
  }
  return (
    <Dialog
      title={`Suspend ${name}?`}
      isOpen={isOpen}
      onClose={onClose}
      end={
        <>
          <Button onClick={onClose}>Keep it running</Button>
          <Button
            variant="danger"
            className="primary"
            onClick={suspend}
            disabledBecause={reason.trim() === '' ? 'Give a reason first.' : null}
          >
            Suspend
          </Button>
        </>
      }
    >
      <p>{effect}</p>
      <Field label="Reason" hint="Shown to whoever asks why its jobs wait." wrong={problem}>
        <input type="text" value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
      </Field>
    </Dialog>
  )
}
