// Shows every component once, in the theme that is chosen above.
import { useState } from 'react'
import { Card } from '../ui/card.tsx'
import { Toasts } from '../ui/overlay/toasts.tsx'
import { type QueueColour, QueueColoursProvider } from '../ui/queue-colour.ts'
import { Tabs } from '../ui/tabs.tsx'
import { Em, Verdict } from '../ui/verdict.tsx'
import { ChartSamples } from './chart-samples.tsx'
import { DialogSamples } from './dialog-samples.tsx'
import { StateSamples } from './state-samples.tsx'
import { TableSample } from './table-sample.tsx'
import { TextSamples } from './text-samples.tsx'

const COLOURS = new Map<string, QueueColour>([
  ['HIGH', 'salmon'],
  ['DEFAULT', 'blue'],
  ['SCREENSHOT', 'lavender'],
  ['LOW', 'green'],
  ['BULK', 'yellow'],
])
const THEMES = ['system', 'light', 'dark', 'contrast']

export function Gallery() {
  const [theme, setTheme] = useState('system')
  const choose = (next: string) => {
    setTheme(next)
    if (next === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
  }
  return (
    <QueueColoursProvider value={COLOURS}>
      <main>
        <Verdict facts={['1,201 jobs a minute in, 1,284 out', 'nothing has been lost']}>
          Two of five queues are <Em>late</Em>, one is <Em tone="fail">failing</Em>, and two are <Em tone="ok">fine</Em>
          .
        </Verdict>
        <div className="bar">
          <Tabs label="Theme" chosen={theme} onChoose={choose} tabs={THEMES.map((key) => ({ key, label: key }))} />
        </div>
        <StateSamples />
        <ChartSamples />
        <TableSample />
        <div className="grid2 even">
          <Card title="Text and figures">
            <TextSamples />
          </Card>
          <Card title="Dialogs, menus, toasts">
            <DialogSamples />
          </Card>
        </div>
      </main>
      <Toasts />
    </QueueColoursProvider>
  )
}
