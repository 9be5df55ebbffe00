// Alerts and escalations: what fires, what the rules are, who was told, and whether they answered.
import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTitle } from '../../app/title.ts'
import { type Answer, ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Loaded } from '../../ui/screen-state.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { counted } from '../../ui/text/format.ts'
import { Em, Verdict } from '../../ui/verdict.tsx'
import { Escalations } from './escalations.tsx'
import { Firing } from './firing.tsx'
import type { AlertsSearch } from './route.ts'
import { Rules } from './rules.tsx'
import './alerts.css'

type Alerts = Answer<'alerts', 'list'>
type Standing = Answer<'escalations', 'list'>['standing']

export function AlertsScreen() {
  useTitle('Alerts')
  const { show } = useSearch({ strict: false }) as AlertsSearch
  const alerts = useLive(ask('alerts', 'list', {}), { topic: 'alerts', every: 10_000 })
  const open = useLive(ask('escalations', 'list', { state: 'open', limit: 1 }), { every: 10_000 })
  return (
    <Loaded of={alerts} what="the alerts">
      {(data) => (
        <>
          <Head alerts={data} standing={open.data?.standing} />
          <div className="alert-tabs">
            <Tabs
              label="Alerts and escalations"
              chosen={show ?? 'firing'}
              tabs={[
                { key: 'firing', label: 'Firing', to: '/alerts', count: firing(data).length, isBad: true },
                { key: 'escalations', label: 'Escalations', to: '/alerts?show=escalations' },
                { key: 'rules', label: 'Rules', to: '/alerts?show=rules' },
              ]}
            />
          </div>
          {show === undefined && <Firing alerts={data} />}
          {show === 'rules' && <Rules alerts={data} />}
          {show === 'escalations' && <Escalations />}
        </>
      )}
    </Loaded>
  )
}

const firing = ({ alerts }: Alerts) => alerts.filter(({ state }) => state === 'firing')

function Head({ alerts, standing }: { alerts: Alerts; standing: Standing | undefined }) {
  const loud = firing(alerts).filter(({ silence }) => silence === null)
  const silenced = firing(alerts).length - loud.length
  return (
    <Verdict
      facts={[
        silenced > 0 && `${counted(silenced, 'alert')} silenced`,
        standing && standing.deliverers === 0 && <span className="t-late">no worker delivers escalations</span>,
        standing && standing.overdue > 0 && (
          <span className="t-fail">{counted(standing.overdue, 'escalation')} without an answer in time</span>
        ),
        standing && standing.undeliverable > 0 && (
          <span className="t-fail">
            {counted(standing.undeliverable, 'escalation')} refused by {standing.undeliverable === 1 ? 'its' : 'their'}{' '}
            channel
          </span>
        ),
      ]}
    >
      {sentence(loud, silenced)}
    </Verdict>
  )
}

function sentence(loud: Alerts['alerts'], silenced: number): ReactNode {
  const [first] = loud
  if (first === undefined)
    return <Em tone="ok">{silenced > 0 ? 'Nothing fires that is not silenced.' : 'Nothing fires.'}</Em>
  const tone = loud.some(({ severity }) => severity === 'critical') ? 'fail' : 'late'
  return (
    <>
      <Em tone={tone}>{loud.length === 1 ? 'One alert fires' : `${loud.length} alerts fire`}</Em>: {first.why}
    </>
  )
}
