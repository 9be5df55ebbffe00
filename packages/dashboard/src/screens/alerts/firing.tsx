// What fires, what is about to, what has cleared, and what is silenced.
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { type Answer, refresh } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Link } from '../../ui/link.tsx'
import { QueueName } from '../../ui/names.tsx'
import { ReasonDialog } from '../../ui/overlay/reason-dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { Sentence } from '../../ui/sentence.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Badge } from '../../ui/status-badge.tsx'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import type { Tone } from '../../ui/tone.ts'
import { causeOf } from './cause-of.ts'

type Alerts = Answer<'alerts', 'list'>
type Alert = Alerts['alerts'][number]

export const TONE: Readonly<Record<string, Tone>> = {
  critical: 'fail',
  error: 'fail',
  warning: 'late',
  notice: 'info',
  info: 'info',
}

const FOR = { '1h': 'One hour', '8h': 'Eight hours', '24h': 'A day', '168h': 'A week' }

export function Firing({ alerts: { alerts, silences } }: { alerts: Alerts }) {
  const [silencing, setSilencing] = useState<Alert | null>(null)
  const of = (state: Alert['state']) => alerts.filter((alert) => alert.state === state)
  const unmatched = silences.filter(
    (each) => !alerts.some(({ name, subject }) => name === each.name && (each.subject ?? subject) === subject),
  )
  return (
    <>
      {alerts.length === 0 && (
        <div className="panel">
          <EmptyState title="No alert has fired within a day.">
            <p>
              The workers look at queues, runs, budgets and themselves all the time. The rules say at what they look.
            </p>
          </EmptyState>
        </div>
      )}
      {(['firing', 'pending', 'cleared'] as const).map((state) =>
        of(state).length === 0 ? null : (
          <Card key={state} title={TITLES[state]} flush>
            <ul className="alert-list">
              {of(state).map((alert) => (
                <AlertRow key={`${alert.name} ${alert.subject}`} alert={alert} onSilence={() => setSilencing(alert)} />
              ))}
            </ul>
          </Card>
        ),
      )}
      {unmatched.length > 0 && (
        <Card title="Silences of what does not fire" flush>
          <ul className="alert-list">
            {unmatched.map((silence) => (
              <li key={`${silence.name} ${silence.subject}`}>
                <Badge tone="off" icon="hide">
                  {silence.name}
                </Badge>
                <span>
                  {silence.subject ?? 'every subject'}: {silence.reason}{' '}
                  <span className="dim">
                    {silence.by}, ends <RelativeTime at={silence.until} />
                  </span>
                </span>
                <Unsilence name={silence.name} subject={silence.subject} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      <ReasonDialog
        isOpen={silencing !== null}
        onClose={() => setSilencing(null)}
        title={`Silence ${silencing?.name} of ${silencing?.subject}`}
        verb="Silence"
        durations={FOR}
        onRun={async ({ reason, for: length = '1h' }) => {
          const { name, subject } = silencing as Alert
          await api.alerts.silence({ name, subject, reason, for: length })
          await refresh('alerts')
          toast({
            says: `${name} of ${subject} is silenced.`,
            onUndo: () => api.alerts.unsilence({ name, subject }).then(() => refresh('alerts')),
          })
        }}
      >
        Nobody is told of it until the silence ends. It stays visible here.
      </ReasonDialog>
    </>
  )
}

const TITLES = { firing: 'Firing', pending: 'About to fire', cleared: 'Cleared within a day' }

function AlertRow({ alert, onSilence }: { alert: Alert; onSilence: () => void }) {
  const { name, subject, severity, state, why, action, since, silence } = alert
  const may = useMay()
  const queues = (alert.queues ?? []) as readonly string[]
  const cause = state === 'cleared' ? null : causeOf(alert)
  return (
    <li>
      <Badge tone={state === 'cleared' ? 'ok' : (TONE[severity] ?? 'late')}>
        {state === 'cleared' ? 'cleared' : severity}
      </Badge>
      <span className="two">
        <b>{why}</b>
        {state !== 'cleared' && (
          <span className="dim">
            <Sentence text={action} />
          </span>
        )}
        <span className="dim">
          <span className="mono">{name}</span> of {queues.includes(subject) ? <QueueName name={subject} /> : subject} ·
          since <RelativeTime at={since} />
          {silence && ` · silenced by ${silence.by}: ${silence.reason}`}
        </span>
      </span>
      {state !== 'cleared' && (
        <span className="acts">
          {cause !== null && (
            <Link className="btn sm" to={cause.to}>
              {cause.label}
            </Link>
          )}
          {may('alerts.silence') &&
            (silence === null ? (
              <Button size="sm" onClick={onSilence}>
                Silence…
              </Button>
            ) : (
              <Unsilence name={silence.name} subject={silence.subject} />
            ))}
        </span>
      )}
    </li>
  )
}

function Unsilence({ name, subject }: { name: string; subject: string | null }) {
  const may = useMay()
  if (!may('alerts.unsilence')) return null
  const end = async () => {
    await api.alerts.unsilence({ name, ...(subject !== null && { subject }) })
    await refresh('alerts')
  }
  return (
    <Button size="sm" onClick={end}>
      End the silence
    </Button>
  )
}
