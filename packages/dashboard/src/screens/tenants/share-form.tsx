// The share of a tenant, and what another weight would do before it is saved.
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, Facts } from '../../ui/card.tsx'
import { CommandLine } from '../../ui/code-block.tsx'
import { Field } from '../../ui/field.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { sentenceOf } from '../../ui/states.tsx'
import { Duration, Percent } from '../../ui/text/figures.tsx'
import type { Fairness, TenantShare } from './fairness.ts'
import { type PreviewLine, weightPreview } from './preview.ts'
import type { Tenant } from './tenant-screen.tsx'

const EASY = 20
const MOST = 1_000

export interface ShareFormProps {
  tenant: Tenant
  /** Undefined: it has no work, or the caller may not see that of others. */
  fairness: Fairness | undefined
  share: TenantShare | undefined
}

interface Draft {
  readonly weight: string
  readonly minSlots: string
  readonly maxSlots: string
}

const draftOf = ({ weight, minSlots, maxSlots }: Tenant): Draft => ({
  weight: String(weight),
  minSlots: String(minSlots),
  maxSlots: maxSlots === null ? '' : String(maxSlots),
})

const isWhole = (text: string, least: number, most: number) =>
  /^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most

export function ShareForm({ tenant, fairness, share }: ShareFormProps) {
  const may = useMay()
  const [edited, setDraft] = useState<Draft | null>(null)
  if (!may('tenants.set')) return <Given tenant={tenant} />
  const draft = edited ?? draftOf(tenant)
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part })
  const wrong = wrongWith(draft)
  const isSame = JSON.stringify(draft) === JSON.stringify(draftOf(tenant))
  const save = async () => {
    try {
      await write(tenant.name, draft)
      toast({
        says: `${tenant.name} has weight ${draft.weight} now.`,
        onUndo: () => write(tenant.name, draftOf(tenant)),
      })
      setDraft(null)
    } catch (error) {
      toast({ says: `It was not saved: ${sentenceOf(error)}`, tone: 'fail' })
    }
  }
  const weight = Number(draft.weight)
  return (
    <Card title="Share" note="Against other tenants in the same queue; a slot that nobody else wants is free to all.">
      <div className="weight">
        <Field label={`Weight, now ${tenant.weight}`}>
          <input
            type="range"
            min={1}
            max={Math.max(EASY, tenant.weight)}
            value={isWhole(draft.weight, 1, MOST) ? weight : tenant.weight}
            onChange={(event) => change({ weight: event.target.value })}
          />
        </Field>
        <Field label="as a number" wrong={wrong.weight}>
          <input
            type="number"
            min={1}
            max={MOST}
            value={draft.weight}
            onChange={(event) => change({ weight: event.target.value })}
          />
        </Field>
      </div>
      <div className="trio">
        <Field label="Min slots, in each queue" wrong={wrong.minSlots}>
          <input
            type="number"
            min={0}
            value={draft.minSlots}
            onChange={(event) => change({ minSlots: event.target.value })}
          />
        </Field>
        <Field label="Max slots" hint="empty: no limit" wrong={wrong.maxSlots}>
          <input
            type="number"
            min={0}
            value={draft.maxSlots}
            onChange={(event) => change({ maxSlots: event.target.value })}
          />
        </Field>
      </div>
      <div className="what-if">
        {fairness && share && wrong.weight === null ? (
          <WhatIf fairness={fairness} lines={weightPreview(fairness, share, weight)} weight={weight} />
        ) : (
          <p className="note">It has no work now, so there is nothing to compare with.</p>
        )}
        <div className="acts">
          <Button
            variant="primary"
            onClick={save}
            disabledBecause={isSame ? 'Nothing is changed yet.' : (wrong.weight ?? wrong.minSlots ?? wrong.maxSlots)}
          >
            Save {weight === tenant.weight ? 'share' : `weight ${draft.weight}`}
          </Button>
          <Button onClick={() => setDraft(null)} disabledBecause={isSame ? 'Nothing is changed yet.' : null}>
            Undo the edit
          </Button>
        </div>
        <CommandLine command={commandOf(tenant, draft)} />
      </div>
    </Card>
  )
}

const Given = ({ tenant: { weight, minSlots, maxSlots } }: { tenant: Tenant }) => (
  <Card title="Share">
    <Facts
      of={[
        ['weight', weight],
        ['min slots', minSlots],
        ['max slots', maxSlots ?? 'as many as are free'],
      ]}
    />
  </Card>
)

function wrongWith({ weight, minSlots, maxSlots }: Draft) {
  return {
    weight: isWhole(weight, 1, MOST) ? null : `Expected a whole number from 1 to ${MOST}.`,
    minSlots: isWhole(minSlots, 0, 10_000) ? null : 'Expected a whole number from 0.',
    maxSlots: maxSlots === '' || isWhole(maxSlots, 0, 10_000) ? null : 'Expected a whole number from 0, or nothing.',
  }
}

async function write(tenant: string, { weight, minSlots, maxSlots }: Draft): Promise<void> {
  await api.tenants.set({
    tenant,
    weight: Number(weight),
    minSlots: Number(minSlots),
    maxSlots: maxSlots === '' ? null : Number(maxSlots),
  })
  await refresh('tenants', 'queues')
}

function commandOf({ name, minSlots, maxSlots }: Tenant, draft: Draft): string {
  const quoted = /^[\w.:/-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`
  const min = draft.minSlots === String(minSlots) ? '' : ` --min-slots ${draft.minSlots}`
  const isSameMax = draft.maxSlots === (maxSlots === null ? '' : String(maxSlots))
  const max = isSameMax ? '' : ` --max-slots ${draft.maxSlots === '' ? 'none' : draft.maxSlots}`
  return `millrace tenants set ${quoted} --weight ${draft.weight}${min}${max}`
}

function WhatIf({ fairness, lines, weight }: { fairness: Fairness; lines: readonly PreviewLine[]; weight: number }) {
  return (
    <table aria-live="polite">
      <caption>
        <b>What weight {weight} would do</b> in {fairness.queue}, judging by the last 10 minutes
      </caption>
      <thead>
        <tr>
          <th scope="col">
            <span className="vh">what</span>
          </th>
          <th scope="col" className="r">
            now
          </th>
          <th scope="col" className="r">
            then
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ what, kind, before, after }) => (
          <tr key={what}>
            <th scope="row">{what}</th>
            <td className="r nw">{kind === 'share' ? <Percent share={before} /> : <Duration ms={before} />}</td>
            <td className="r nw">{kind === 'share' ? <Percent share={after} /> : <Duration ms={after} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
