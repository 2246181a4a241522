//! How single settings are read and shown.

use std::net::SocketAddr;
use std::path::PathBuf;

use heddle_store::workflows::KeyType;
use serde_json::{Value, json};

use super::PagesMode;

/// A type of setting.
pub trait Field: Sized {
    /// Whether its value must never be shown.
    const IS_SECRET: bool = false;
    /// Reads it from a variable; else says what is wanted, as "a number".
    fn parse(text: &str) -> Result<Self, &'static str>;
    /// What `config show` says.
    fn show(&self) -> Value;
}

/// A secret.
pub struct Secret(pub String);

impl Field for Secret {
    const IS_SECRET: bool = true;
    fn parse(text: &str) -> Result<Self, &'static str> {
        Ok(Self(text.trim().to_owned()))
    }
    fn show(&self) -> Value {
        json!("set")
    }
}

impl Field for String {
    fn parse(text: &str) -> Result<Self, &'static str> {
        Ok(text.to_owned())
    }
    fn show(&self) -> Value {
        json!(self)
    }
}

impl Field for PathBuf {
    fn parse(text: &str) -> Result<Self, &'static str> {
        Ok(text.into())
    }
    fn show(&self) -> Value {
        json!(self.display().to_string())
    }
}

impl Field for SocketAddr {
    fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse().map_err(|_| "an address and port such as 127.0.0.1:7345")
    }
    fn show(&self) -> Value {
        json!(self.to_string())
    }
}

impl Field for bool {
    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "true" | "1" | "yes" => Ok(true),
            "false" | "0" | "no" => Ok(false),
            _ => Err("true or false"),
        }
    }
    fn show(&self) -> Value {
        json!(self)
    }
}

impl Field for PagesMode {
    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "sign-in" => Ok(Self::SignIn),
            "open" => Ok(Self::Open),
            _ => Err("sign-in or open"),
        }
    }
    fn show(&self) -> Value {
        json!(match self {
            Self::SignIn => "sign-in",
            Self::Open => "open",
        })
    }
}

impl Field for KeyType {
    fn parse(text: &str) -> Result<Self, &'static str> {
        Self::from_name(text).ok_or("bigint, uuid or ulid")
    }
    fn show(&self) -> Value {
        json!(self.name())
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(
            impl Field for $number {
                fn parse(text: &str) -> Result<Self, &'static str> {
                    text.trim().parse().map_err(|_| "a whole number in range")
                }
                fn show(&self) -> Value {
                    json!(self)
                }
            }
        )*
    };
}

numbers!(i64, u32, u64, usize);
