export function AlertsScreen() {
  return <h1 className="verdict">Alerts</h1>
}
