// Looks every half second for what is due, and sends it: endpoint beside endpoint, some at a time. One that is being
// served is passed over until its part is done, so a slow one never keeps the others.

import { deliverTo, type DeliveryDeps } from './deliver.ts';
import { listDueEndpoints } from '#db/delivery-store.ts';

const lookMs = 500;
/** Endpoints served at once by one process. */
const servedMax = 100;

export type DeliveryLoop = { readonly stop: () => Promise<void> };

export function startDeliveries(deps: DeliveryDeps): DeliveryLoop {
  const { cell, clock, log } = deps;
  const served = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  const state = { isStopped: false };

  const serve = async (endpointId: string) => {
    try {
      await deliverTo({ ...deps, isEnding: () => state.isStopped }, endpointId);
    } catch (error) {
      log.warn({ cell: cell.name, endpoint: endpointId, err: error }, 'could not send to a webhook endpoint');
    } finally {
      served.delete(endpointId);
    }
  };
  const look = async () => {
    try {
      for (const endpointId of await listDueEndpoints(cell.reader, clock.now()))
        if (!served.has(endpointId) && served.size < servedMax) served.set(endpointId, serve(endpointId));
    } catch (error) {
      log.warn({ cell: cell.name, err: error }, 'could not look for webhook deliveries');
    }
    if (!state.isStopped) timer = setTimeout(() => void (looking = look()), lookMs);
  };
  looking = look();
  return {
    stop: async () => {
      state.isStopped = true;
      clearTimeout(timer);
      await looking;
      await Promise.all(served.values());
    },
  };
}
