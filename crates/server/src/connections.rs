//! Connections: how many there are at one time, and for how long one may keep the server waiting.

use std::future::Future as _;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep};

use crate::config::Bounds;

/// Pause after a connection could not be accepted, for want of file handles say.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

/// Serves connections until `stop` says so, and then those under way to the end of what they were asked for.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Router,
    bounds: Bounds,
    mut stop: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(bounds.connections.max(1)));
    let mut http = http1::Builder::new();
    // From the end of one request, or the connection's beginning, to the last of the next one's head.
    http.timer(TokioTimer::new()).header_read_timeout(bounds.idle);
    let mut connections = JoinSet::new();
    loop {
        let accepted = async {
            // Without a place nothing is accepted: who comes then waits in the system's queue.
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accepted => accepted,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            // An error means that whoever could say stop is gone, and that is the end too.
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Most are the connection's own (it was reset before its turn); those of the machine pass.
                tracing::warn!(error = &error as &dyn std::error::Error, "a connection was not accepted");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let stream = TokioIo::new(Moving { stream, bound: bounds.stalled, stalled: None });
        let connection = http.serve_connection(stream, TowerToHyperService::new(app.clone()));
        let mut stop = stop.clone();
        connections.spawn(async move {
            let _place = place;
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = async { drop(stop.wait_for(|stop| *stop).await) } => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(error = &error as &dyn std::error::Error, "a connection ended early");
            }
        });
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// A stream that breaks off once its other end has taken nothing of what was written for this long.
struct Moving {
    stream: TcpStream,
    bound: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Moving {
    fn bounded<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let bound = self.bound;
        ready!(self.stalled.get_or_insert_with(|| Box::pin(sleep(bound))).as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Moving {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Moving {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.bounded(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.bounded(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        this.bounded(context, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
