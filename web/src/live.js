// Data that a server sends while runs go on: server-sent events of `rarefy watch`.
//
//   all    everything, at first and whenever rows come or go
//   rows   { rows: { INDEX: row... }, comparisons }: those that have changed
//   wait   why there is nothing to show yet
export function listen({ on_data, on_wait, on_state }) {
  let data = null;
  const events = new EventSource('events');
  events.addEventListener('open', () => on_state('live'));
  events.addEventListener('error', () => on_state(events.readyState === EventSource.CLOSED ? 'closed' : 'lost'));
  events.addEventListener('all', (event) => {
    data = JSON.parse(event.data);
    on_data(data, true);
  });
  events.addEventListener('rows', (event) => {
    if (!data) return;
    const news = JSON.parse(event.data);
    for (const [index, row] of Object.entries(news.rows)) data.rows[index] = row;
    data.comparisons = news.comparisons;
    on_data(data, false);
  });
  events.addEventListener('wait', (event) => on_wait(JSON.parse(event.data)));
}
